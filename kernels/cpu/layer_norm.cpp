// Layer normalisation.
#include "kernels/cpu/parts.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/layer_norm.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/row_loops-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace {

void forward(ConstMatrix x, const float* gamma, const float* beta, float epsilon, Matrix moments, Matrix y) {
  const auto columns = static_cast<float>(x.columns);
  for (int row = 0; row < x.rows; ++row) {
    const float* in = row_of(x, row);
    float* out = row_of(y, row);
    const float mean =
        sum_along(x.columns, [&](F32 chain, std::size_t p, int v)
                                 HWY_ATTR { return chain + load(in + p * x.panel_stride + v * kLanes); }) /
        columns;
    const F32 middle = broadcast(mean);
    const float variance = sum_along(x.columns,
                                     [&](F32 chain, std::size_t p, int v) HWY_ATTR {
                                       const F32 d = load(in + p * x.panel_stride + v * kLanes) - middle;
                                       return fma(d, d, chain);
                                     }) /
                           columns;
    const float inverse = 1.0F / number::root(variance + epsilon);
    const F32 factor = broadcast(inverse);
    moments.at(row, 0) = mean;
    moments.at(row, 1) = inverse;
    each_vector(x.columns, [&](std::size_t p, int v, int) HWY_ATTR {
      const std::size_t c = p * kPanel + static_cast<std::size_t>(v * kLanes);
      const F32 h = (load(in + p * x.panel_stride + v * kLanes) - middle) * factor;
      store(fma(h, load(gamma + c), load(beta + c)), out + p * y.panel_stride + v * kLanes);
    });
  }
}

void backward(ConstMatrix x, ConstMatrix moments, const float* gamma, ConstMatrix dy, Matrix scaled,
              Matrix dx) {
  const auto columns = static_cast<float>(x.columns);
  for (int row = 0; row < x.rows; ++row) {
    const float *in = row_of(x, row), *g = row_of(dy, row);
    const F32 mean = broadcast(moments.at(row, 0)), inverse = broadcast(moments.at(row, 1));
    const auto normalised = [&](std::size_t p, int v) HWY_ATTR {
      return (load(in + p * x.panel_stride + v * kLanes) - mean) * inverse;
    };
    const auto weighted = [&](std::size_t p, int v) HWY_ATTR {
      return load(g + p * dy.panel_stride + v * kLanes) *
             load(gamma + p * kPanel + static_cast<std::size_t>(v * kLanes));
    };
    F32 direct = zero(), along = zero();
    if (dx) {
      direct = broadcast(sum_along(x.columns, [&](F32 chain, std::size_t p, int v)
                                                  HWY_ATTR { return chain + weighted(p, v); }) /
                         columns);
      along = broadcast(sum_along(x.columns,
                                  [&](F32 chain, std::size_t p, int v)
                                      HWY_ATTR { return fma(weighted(p, v), normalised(p, v), chain); }) /
                        columns);
    }
    each_vector(x.columns, [&](std::size_t p, int v, int) HWY_ATTR {
      const F32 h = normalised(p, v), w = weighted(p, v);
      store(load(g + p * dy.panel_stride + v * kLanes) * h,
            row_of(scaled, row) + p * scaled.panel_stride + v * kLanes);
      if (dx)
        store(inverse * (w - fma(h, along, direct)), row_of(dx, row) + p * dx.panel_stride + v * kLanes);
    });
  }
}

const LayerNormTable kTable = {&forward, &backward};

}  // namespace

const LayerNormTable* layer_norm_table() {
  return &kTable;
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mirrorscale::kernels::cpu {
HWY_EXPORT(layer_norm_table);
const LayerNormTable* chosen_layer_norm_table() {
  return HWY_DYNAMIC_DISPATCH(layer_norm_table)();
}
}  // namespace mirrorscale::kernels::cpu
#endif

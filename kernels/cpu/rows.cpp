// Activations, softmax and dropout.
#include "kernels/cpu/parts.h"

#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/row_loops-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace {

/// body(p, i) for each vector of a matrix: panel p, element i of it. Padding included.
template <class Body>
HWY_INLINE void each_element(int rows, int columns, const Body& body) {
  for (int p = 0; p < panels(columns); ++p) {
    for (int i = 0; i < rows * kPanel; i += kLanes) body(static_cast<std::size_t>(p), i);
  }
}

template <Activation kFunction>
void activate_all(ConstMatrix z, Matrix y) {
  each_element(y.rows, y.columns, [&](std::size_t p, int i) HWY_ATTR {
    store(activated<kFunction>(load(z.data + p * z.panel_stride + i)), y.data + p * y.panel_stride + i);
  });
}
void activate(Activation f, ConstMatrix z, Matrix y) {
  exact::with_activation(f, [&](auto kind) { activate_all<kind()>(z, y); });
}

template <Activation kFunction>
void activate_all_backward(ConstMatrix saved, ConstMatrix dy, Matrix dz) {
  each_element(dz.rows, dz.columns, [&](std::size_t p, int i) HWY_ATTR {
    const F32 g = load(dy.data + p * dy.panel_stride + i);
    const F32 s = kFunction == Activation::kLinear ? g : load(saved.data + p * saved.panel_stride + i);
    store(times_derivative<kFunction>(g, s), dz.data + p * dz.panel_stride + i);
  });
}
void activate_backward(Activation f, ConstMatrix saved, ConstMatrix dy, Matrix dz) {
  exact::with_activation(f, [&](auto kind) { activate_all_backward<kind()>(saved, dy, dz); });
}

void softmax(ConstMatrix z, Matrix p) {
  for (int row = 0; row < p.rows; ++row) {
    const float* in = row_of(z, row);
    float* out = row_of(p, row);
    const F32 top = broadcast(maximum_along(in, z.panel_stride, z.columns));
    const F32 sum = broadcast(sum_along(z.columns, [&](F32 chain, std::size_t n, int v) HWY_ATTR {
      const F32 e = exp(load(in + n * z.panel_stride + v * kLanes) - top);
      store(e, out + n * p.panel_stride + v * kLanes);
      return chain + e;
    }));
    each_vector(p.columns, [&](std::size_t n, int v, int) HWY_ATTR {
      float* at = out + n * p.panel_stride + v * kLanes;
      store(load(at) / sum, at);
    });
  }
}

void softmax_backward(ConstMatrix p, ConstMatrix dy, Matrix dz) {
  for (int row = 0; row < dz.rows; ++row) {
    const float *probability = row_of(p, row), *g = row_of(dy, row);
    float* out = row_of(dz, row);
    const F32 dot = broadcast(sum_along(p.columns, [&](F32 chain, std::size_t n, int v) HWY_ATTR {
      return fma(load(g + n * dy.panel_stride + v * kLanes),
                 load(probability + n * p.panel_stride + v * kLanes), chain);
    }));
    each_vector(p.columns, [&](std::size_t n, int v, int) HWY_ATTR {
      const F32 q = load(probability + n * p.panel_stride + v * kLanes);
      store(q * (load(g + n * dy.panel_stride + v * kLanes) - dot), out + n * dz.panel_stride + v * kLanes);
    });
  }
}

void dropout(const Dropout& d, ConstMatrix x, Matrix y) {
  const float factor = d.factor();
  for (int row = 0; row < y.rows; ++row) {
    const std::int64_t sample = d.first_sample + row / d.positions;
    const int position = row % d.positions;
    for (int group = 0; group * 4 < panels(y.columns); ++group) {
      alignas(64) float factors[4 * kPanel];
      for (int lane = 0; lane < kPanel; ++lane) {
        const auto words = Dropout::words(d.key, sample, position, group, lane);
        for (int i = 0; i < 4; ++i) {
          const bool dropped = to_unit_float(words[static_cast<std::size_t>(i)]) < d.rate;
          factors[i * kPanel + lane] = dropped ? 0 : factor;
        }
      }
      for (int i = 0; i < 4 && group * 4 + i < panels(y.columns); ++i) {
        const auto panel = static_cast<std::size_t>(group * 4 + i);
        const float* in = row_of(x, row) + panel * x.panel_stride;
        float* out = row_of(y, row) + panel * y.panel_stride;
        for (int v = 0; v < kPanel; v += kLanes) {
          const F32 f = load(factors + i * kPanel + v);
          store(select(less(zero(), f), load(in + v) * f, zero()), out + v);
        }
      }
    }
  }
}

const RowsTable kTable = {&activate, &activate_backward, &softmax, &softmax_backward, &dropout};

}  // namespace

const RowsTable* rows_table() {
  return &kTable;
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mirrorscale::kernels::cpu {
HWY_EXPORT(rows_table);
const RowsTable* chosen_rows_table() {
  return HWY_DYNAMIC_DISPATCH(rows_table)();
}
}  // namespace mirrorscale::kernels::cpu
#endif

// Loops over the elements of panel matrices. Included once a target.
#if defined(MIRRORSCALE_ROW_LOOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MIRRORSCALE_ROW_LOOPS_INL_H
#undef MIRRORSCALE_ROW_LOOPS_INL_H
#else
#define MIRRORSCALE_ROW_LOOPS_INL_H
#endif

#include "kernels/cpu/lanes-inl.h"

#include <cstddef>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {

template <class T>
HWY_INLINE T* row_of(const BasicMatrix<T>& m, int row) {
  return m.data + row * kPanel;
}

/// For each vector of a row, in order: body(p, v, real), p the panel, v the vector in it, real the lanes that
/// hold columns (0 .. kLanes, or more when there are more).
template <class Body>
HWY_INLINE void each_vector(int columns, const Body& body) {
  for (int p = 0; p * kPanel < columns; ++p) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kVectors; ++v) {
      body(static_cast<std::size_t>(p), v, columns - p * kPanel - v * kLanes);
    }
  }
}

/// The sum along a row in 16 chains: step(chain, p, v) is the chain with the next value. Padding joins no
/// chain (not even as zero: -0 + +0 is +0).
template <class Step>
HWY_INLINE float sum_along(int columns, const Step& step) {
  Chains sum = same_chains(0);
  each_vector(columns, [&](std::size_t p, int v, int real) HWY_ATTR {
    const F32 next = step(sum.v[v], p, v);
    sum.v[v] = real >= kLanes ? next : select(first_lanes(real), next, sum.v[v]);
  });
  return sum_of(sum);
}

/// The largest element of a row; NaN are passed over.
HWY_INLINE float maximum_along(const float* row, std::size_t stride, int columns) {
  Chains top = same_chains(-std::numeric_limits<float>::infinity());
  each_vector(columns, [&](std::size_t p, int v, int real) HWY_ATTR {
    const F32 z = load(row + p * stride + v * kLanes), most = top.v[v];
    const F32 next = select(less(most, z), z, most);
    top.v[v] = real >= kLanes ? next : select(first_lanes(real), next, most);
  });
  return maximum_of(top);
}

HWY_INLINE float weight_of(const float* weights, int row) {
  return weights == nullptr ? 1.0F : weights[row];
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

// The register tile that all products are made of. Included once a target.
#if defined(MIRRORSCALE_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MIRRORSCALE_TILE_INL_H
#undef MIRRORSCALE_TILE_INL_H
#else
#define MIRRORSCALE_TILE_INL_H
#endif

#include "kernels/cpu/lanes-inl.h"

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {

/// kR rows x kP panels of sums, one FMA chain each.
template <int kR, int kP>
using Tile = F32[kR][kP * kVectors];

template <int kR, int kP>
HWY_INLINE void clear(Tile<kR, kP>& c) {
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) c[r][v] = zero();
  }
}

/// Where vector v of panels `stride` apart lies.
template <class T>
HWY_INLINE T* vector_at(T* panel, std::size_t stride, int v) {
  return panel + static_cast<std::size_t>(v / kVectors) * stride + (v % kVectors) * kLanes;
}

/// c[r][j] = fma(a(r, k), b(k, j), c[r][j]) for k = 0 .. steps - 1. b comes from L2: it is asked for kAhead
/// steps before its use.
template <int kR, int kP, int kRowStep, int kDepthStep, int kAhead>
HWY_INLINE void accumulate(int steps, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                           std::size_t b_stride, Tile<kR, kP>& c) {
  _Pragma("GCC unroll 4") for (int k = 0; k < steps; ++k, a += kDepthStep, b += kPanel) {
    if constexpr (kAhead > 0) {
      MIRRORSCALE_UNROLL for (int n = 0; n < kP; ++n) {
        __builtin_prefetch(b + static_cast<std::size_t>(n) * b_stride + kAhead * kPanel);
      }
    }
    F32 row[kP * kVectors];
    MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) row[v] = load(vector_at(b, b_stride, v));
    MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
      const F32 x = broadcast(a[r * kRowStep]);
      MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) c[r][v] = fma(x, row[v], c[r][v]);
    }
  }
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

// Transposition of a 16 x 16 block. Included once a target.
#if defined(MIRRORSCALE_TRANSPOSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MIRRORSCALE_TRANSPOSE_INL_H
#undef MIRRORSCALE_TRANSPOSE_INL_H
#else
#define MIRRORSCALE_TRANSPOSE_INL_H
#endif

#include "kernels/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {

#if HWY_CAP_GE256

/// Four columns of eight rows to four rows of eight columns. The halves of a vector hold rows r and r + 4, so
/// that two rounds of interleaving within halves do it all.
HWY_INLINE void transpose_eight_by_four(const float* HWY_RESTRICT in, float* HWY_RESTRICT out) {
  const hn::CappedTag<float, 8> d;
  const hn::Half<decltype(d)> half;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto rows = [&](int r) HWY_ATTR {
    return hn::Combine(d, hn::Load(half, in + (r + 4) * kPanel), hn::Load(half, in + r * kPanel));
  };
  const auto a = rows(0), b = rows(1), c = rows(2), e = rows(3);
  const auto ab0 = hn::BitCast(pairs, hn::InterleaveLower(d, a, b)),
             ab2 = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto ce0 = hn::BitCast(pairs, hn::InterleaveLower(d, c, e)),
             ce2 = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  hn::Store(hn::BitCast(d, hn::InterleaveLower(pairs, ab0, ce0)), d, out);
  hn::Store(hn::BitCast(d, hn::InterleaveUpper(pairs, ab0, ce0)), d, out + kPanel);
  hn::Store(hn::BitCast(d, hn::InterleaveLower(pairs, ab2, ce2)), d, out + 2 * kPanel);
  hn::Store(hn::BitCast(d, hn::InterleaveUpper(pairs, ab2, ce2)), d, out + 3 * kPanel);
}

/// out(c, r) = in(r, c), both 16 x 16 and contiguous.
HWY_INLINE void transpose_block(const float* HWY_RESTRICT in, float* HWY_RESTRICT out) {
  for (int c = 0; c < kPanel; c += 4) {
    for (int r = 0; r < kPanel; r += 8) transpose_eight_by_four(in + r * kPanel + c, out + c * kPanel + r);
  }
}

#else

HWY_INLINE void transpose_block(const float* HWY_RESTRICT in, float* HWY_RESTRICT out) {
  for (int r = 0; r < kPanel; ++r) {
    for (int c = 0; c < kPanel; ++c) out[c * kPanel + r] = in[r * kPanel + c];
  }
}

#endif

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

// Forward products of a thin layer. Included once a target.
#if defined(MIRRORSCALE_THIN_PRODUCT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MIRRORSCALE_THIN_PRODUCT_INL_H
#undef MIRRORSCALE_THIN_PRODUCT_INL_H
#else
#define MIRRORSCALE_THIN_PRODUCT_INL_H
#endif

#include "kernels/cpu/tile-inl.h"
#include "kernels/cpu/transpose-inl.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {

#if HWY_CAP_GE512
inline constexpr int kThinTile = 12;  // outputs of a tile: chains enough to hide the latency of an FMA
#elif HWY_CAP_GE256
inline constexpr int kThinTile = 6;
#else
inline constexpr int kThinTile = 0;  // lanes are never idle
#endif
inline constexpr int kThinOutputs = 12;        // above, too few lanes are idle to pay for the transposition
inline constexpr int kThinDepth = 8 * kPanel;  // of x at a time: 8 KiB transposed

/// kR outputs x 16 rows: sums(o, row) go on over `steps` of k. w at the first step and output; x transposed,
/// [k][16].
template <int kR>
HWY_NOINLINE void thin_product_tile(int steps, bool first, const float* w, const float* x, float* sums) {
  Tile<kR, 1> c;
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kVectors; ++v) {
      c[r][v] = first ? zero() : load(sums + r * kPanel + v * kLanes);
    }
  }
  accumulate<kR, 1, 1, kPanel, 0>(steps, w, x, 0, c);
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kVectors; ++v) store(c[r][v], sums + r * kPanel + v * kLanes);
  }
}

/// The products of 16 rows from `row` with a layer of at most kThinOutputs outputs: out [16][16]. With 10
/// outputs as lanes 6 of 16 would be idle; so x is transposed on the fly and the rows are the lanes. a * b =
/// b * a: the same bits.
HWY_INLINE void thin_product_rows(ConstMatrix x, ConstMatrix w, int row, float* out) {
  using Run = void (*)(int, bool, const float*, const float*, float*);
  constexpr auto kTiles = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array<Run, sizeof...(r)>{&thin_product_tile<r + 1>...};
  }
  (std::make_integer_sequence<int, std::max(1, kThinTile)>());
  alignas(64) float transposed[kThinDepth * kPanel];
  alignas(64) float sums[kBlock] = {};  // what no output fills becomes padding
  const int tiles = (w.columns + kThinTile - 1) / std::max(1, kThinTile);
  for (int k0 = 0; k0 < x.columns; k0 += kThinDepth) {
    const int steps = std::min(kThinDepth, x.columns - k0);
    for (int k = 0; k < steps; k += kPanel) {
      const float* from =
          x.data + static_cast<std::size_t>((k0 + k) / kPanel) * x.panel_stride + row * kPanel;
      for (int r = 0; r < kPanel; ++r) __builtin_prefetch(from + x.panel_stride + r * kPanel);
      transpose_block(from, transposed + k * kPanel);
    }
    for (int t = 0, o = 0; t < tiles; ++t) {
      const int outputs = (w.columns - o) / (tiles - t);
      kTiles[static_cast<std::size_t>(outputs - 1)](steps, k0 == 0, w.data + k0 * kPanel + o, transposed,
                                                    sums + o * kPanel);
      o += outputs;
    }
  }
  transpose_block(sums, out);
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

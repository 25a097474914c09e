// Weight gradients and sums over rows: chains inside micro-shards, and the binary tree over them in registers
// and L1.
#include "kernels/cpu/parts.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gradient.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace {

#if HWY_CAP_GE512
inline constexpr int kRows = 8, kPanels = 3, kThinRows = 10, kThinPanels = 2;
#elif HWY_CAP_GE256
inline constexpr int kRows = 6, kPanels = 1, kThinRows = 5, kThinPanels = 1;
#else
inline constexpr int kRows = 1, kPanels = 1, kThinRows = 1, kThinPanels = 1;
#endif
inline constexpr int kThinColumns = 12;  // up to here the roles are swapped

struct Gradient {
  ConstMatrix x, dy;
  int shard_rows = 1;
  Matrix dw;
};

/// Sums of the micro-shards of one tile, combined by the tree while they are in registers and L1: partial
/// sums wait on a stack, as the digits of a binary counter do.
template <int kR, int kP, int kRowStep, int kDepthStep>
HWY_INLINE void tree_sum(int rows, int shard_rows, const float* a, const float* b, std::size_t b_stride,
                         Tile<kR, kP>& c) {
  constexpr int kCount = kP * kVectors, kFloats = kR * kP * kPanel, kLevels = 31;
  alignas(64) float stack[kLevels * kFloats];
  const unsigned shards = static_cast<unsigned>(std::max(1, (rows + shard_rows - 1) / shard_rows));
  for (unsigned s = 0; s < shards; ++s) {
    const int from = static_cast<int>(s) * shard_rows;
    clear<kR, kP>(c);
    accumulate<kR, kP, kRowStep, kDepthStep, 16>(std::min(shard_rows, rows - from), a + from * kDepthStep,
                                                 b + from * kPanel, b_stride, c);
    const bool last = s + 1 == shards;  // then every digit is still to be added
    unsigned digits = last ? s : s & ~(s + 1);
    for (; digits != 0; digits &= digits - 1) {
      const float* left = stack + std::countr_zero(digits) * kFloats;
      MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
        MIRRORSCALE_UNROLL for (int v = 0; v < kCount; ++v) c[r][v] =
            load(left + (r * kCount + v) * kLanes) + c[r][v];
      }
    }
    if (last) break;
    float* top = stack + std::countr_one(s) * kFloats;
    MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
      MIRRORSCALE_UNROLL for (int v = 0; v < kCount; ++v) store(c[r][v], top + (r * kCount + v) * kLanes);
    }
  }
}

/// kR inputs x kP panels of outputs, at input `i` and output panel `o`.
template <int kR, int kP>
HWY_NOINLINE void gradient_tile(const Gradient& g, int i, int o) {
  Tile<kR, kP> c;
  tree_sum<kR, kP, 1, kPanel>(
      g.x.rows, g.shard_rows, g.x.data + static_cast<std::size_t>(i / kPanel) * g.x.panel_stride + i % kPanel,
      g.dy.data + static_cast<std::size_t>(o) * g.dy.panel_stride, g.dy.panel_stride, c);
  float* out = g.dw.data + static_cast<std::size_t>(o) * g.dw.panel_stride + i * kPanel;
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) {
      store(c[r][v], vector_at(out, g.dw.panel_stride, v) + r * kPanel);
    }
  }
}

/// The same with the roles swapped, for a thin layer (10 outputs would leave 6 of 16 lanes idle): kR outputs
/// are broadcast, kP panels of inputs are vectors. a * b = b * a: the same bits.
template <int kR, int kP>
HWY_NOINLINE void thin_gradient_tile(const Gradient& g, int o, int i_panel) {
  Tile<kR, kP> c;
  tree_sum<kR, kP, 1, kPanel>(g.x.rows, g.shard_rows, g.dy.data + o,
                              g.x.data + static_cast<std::size_t>(i_panel) * g.x.panel_stride,
                              g.x.panel_stride, c);
  alignas(64) float flat[kR][kP * kPanel];
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) store(c[r][v], flat[r] + v * kLanes);
  }
  for (int j = 0; j < kP * kPanel; ++j) {
    for (int r = 0; r < kR; ++r) g.dw.data[(i_panel * kPanel + j) * kPanel + o + r] = flat[r][j];
  }
}

template <int kP>
void gradient_panel(const Gradient& g, int o) {
  for (int i = 0; i < panels(g.dw.rows) * kPanel;) {
    const int rest = kPanel - i % kPanel;  // a tile lies in one panel of x
    if (kP == 1 && kLanes == kPanel) {
      gradient_tile<kPanel, 1>(g, i, o);
      i += kPanel;
    } else if (rest >= kRows) {
      gradient_tile<kRows, kP>(g, i, o);
      i += kRows;
    } else {
      gradient_tile<kPanel % kRows + (kPanel % kRows == 0), kP>(g, i, o);
      i += rest;
    }
  }
}

void thin_gradient(const Gradient& g) {
  for (int i = 0; i < panels(g.dw.rows);) {
    const int wide = std::min(kThinPanels, panels(g.dw.rows) - i);
    for (int o = 0; o < g.dw.columns;) {
      const bool full = g.dw.columns - o >= kThinRows, all = wide == kThinPanels;
      const auto tile =
          full ? (all ? &thin_gradient_tile<kThinRows, kThinPanels> : &thin_gradient_tile<kThinRows, 1>)
               : (all ? &thin_gradient_tile<1, kThinPanels> : &thin_gradient_tile<1, 1>);
      tile(g, o, i);
      o += full ? kThinRows : 1;
    }
    i += wide;
  }
}

/// Zero where dw has no element, so that sums over an arena may run over it.
void clear_padding(Matrix dw) {
  const int rows = panels(dw.rows) * kPanel, columns = panels(dw.columns) * kPanel;
  for (int r = 0; r < rows; ++r) {
    for (int c = r < dw.rows ? dw.columns : 0; c < columns; ++c) dw.at(r, c) = 0;
  }
}

void linear_backward_weights(ConstMatrix x, ConstMatrix dy, int shard_rows, Matrix dw) {
  const Gradient g{x, dy, shard_rows, dw};
  if (dw.columns <= kThinColumns) {
    thin_gradient(g);
  } else {
    const int all = panels(dw.columns);
    for (int o = 0; o < all;) {  // these panels of dy stay in L2 while all of x passes
      const int wide = std::min(kPanels, all - o);
      if (wide == kPanels) {
        gradient_panel<kPanels>(g, o);
      } else if (wide == 2) {
        gradient_panel<std::min(2, kPanels)>(g, o);
      } else {
        gradient_panel<1>(g, o);
      }
      o += wide;
    }
  }
  clear_padding(dw);
}

void sum_rows(ConstMatrix x, int shard_rows, float* sums) {
  const float one = 1;
  for (int o = 0; o < panels(x.columns); ++o) {
    Tile<1, 1> c;
    tree_sum<1, 1, 0, 0>(x.rows, shard_rows, &one, x.data + static_cast<std::size_t>(o) * x.panel_stride,
                         x.panel_stride, c);
    for (int v = 0; v < kVectors; ++v) store(c[0][v], sums + o * kPanel + v * kLanes);
  }
  std::fill(sums + x.columns, sums + panels(x.columns) * kPanel, 0.0F);
}

const GradientTable kTable = {&linear_backward_weights, &sum_rows};

}  // namespace

const GradientTable* gradient_table() {
  return &kTable;
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mirrorscale::kernels::cpu {
HWY_EXPORT(gradient_table);
const GradientTable* chosen_gradient_table() {
  return HWY_DYNAMIC_DISPATCH(gradient_table)();
}
}  // namespace mirrorscale::kernels::cpu
#endif

// Weight gradients and sums over rows: chains inside micro-shards, and the binary tree over them in registers
// and L1.
#include "kernels/cpu/parts.h"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gradient.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/transpose-inl.h"
#include "kernels/cpu/tree-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace {

// A panel of 16 inputs in tiles of kTallRows, then kLowRows: AVX-512 8, 8 with three panels of outputs, AVX2
// 6, 5, 5 with one (a third tile of 4 rows would have too few chains to hide the latency of an FMA).
#if HWY_CAP_GE512
inline constexpr int kTallRows = 8, kLowRows = 8, kLowTiles = 1, kWide = 3, kThinRows = 10, kThinPanels = 2;
#elif HWY_CAP_GE256
inline constexpr int kTallRows = 6, kLowRows = 5, kLowTiles = 2, kWide = 1, kThinRows = 5, kThinPanels = 1;
#else
inline constexpr int kTallRows = 1, kLowRows = 1, kLowTiles = 15, kWide = 1, kThinRows = 1, kThinPanels = 1;
#endif
static_assert(kTallRows + kLowTiles * kLowRows == kPanel);
inline constexpr int kThinColumns = 12;  // up to here the roles are swapped
inline constexpr int kBlockRows =
    128;  // of a panel of x and dy each: 16 KiB stay in L1 for all tiles of a panel
inline constexpr int kGroupFloats = 1 << 16;  // of dy, that stay in L2 while a panel of x passes

struct Gradient {
  ConstMatrix x, dy;
  Leaves leaves;
  Matrix dw;
};

/// Tile rows i .. i + kR - 1 of x panel `ip` against kP panels of dy from `op`, leaves first .. last - 1.
template <int kShard, int kR, int kP>
HWY_NOINLINE void gradient_tile(const Gradient& g, int ip, int i, int op, int first, int last,
                                TreeSum<kR, kP>& tree) {
  float* out = g.dw.data + static_cast<std::size_t>(op) * g.dw.panel_stride + (ip * kPanel + i) * kPanel;
  if (last == g.leaves.count) {  // with time to fetch the lines to be written
    MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
      MIRRORSCALE_UNROLL for (int p = 0; p < kP; ++p) {
        __builtin_prefetch(out + static_cast<std::size_t>(p) * g.dw.panel_stride + r * kPanel, 1);
      }
    }
  }
  Tile<kR, kP> c;
  if (!tree.template run<kShard, 1, kPanel>(
          g.leaves, first, last, g.x.data + static_cast<std::size_t>(ip) * g.x.panel_stride + i,
          g.dy.data + static_cast<std::size_t>(op) * g.dy.panel_stride, g.dy.panel_stride, c)) {
    return;
  }
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) {
      store(c[r][v], vector_at(out, g.dw.panel_stride, v) + r * kPanel);
    }
  }
}

/// A panel of 16 inputs against kP panels of outputs, block by block of rows.
template <int kShard, int kP>
void gradient_panel(const Gradient& g, int ip, int op) {
  TreeSum<kTallRows, kP> tall;
  TreeSum<kLowRows, kP> low[kLowTiles];
  const int step = std::max(1, kBlockRows / g.leaves.shard_rows);
  for (int first = 0; first < g.leaves.count; first += step) {
    const int last = std::min(first + step, g.leaves.count);
    gradient_tile<kShard>(g, ip, 0, op, first, last, tall);
    for (int t = 0; t < kLowTiles; ++t) {
      gradient_tile<kShard>(g, ip, kTallRows + t * kLowRows, op, first, last, low[t]);
    }
  }
}

/// The outputs from `op` on, at most up to o1, against all inputs; returns where it stopped.
template <int kShard, int kP>
int gradient_column(const Gradient& g, int op) {
  for (int ip = 0; ip < panels(g.dw.rows); ++ip) gradient_panel<kShard, kP>(g, ip, op);
  return op + kP;
}

template <int kShard>
void wide_gradient(const Gradient& g) {
  const int all = panels(g.dw.columns);
  // Few rows: all of x stays in L2, and dw is written from its first to its last line.
  if (g.x.rows * panels(g.x.columns) * kPanel <= kGroupFloats) {
    int op = 0;
    while (op + kWide <= all) op = gradient_column<kShard, kWide>(g, op);
    if (op + 2 <= all) op = gradient_column<kShard, std::min(2, kWide)>(g, op);
    if (op < all) gradient_column<kShard, 1>(g, op);
    return;
  }
  const int fit = kGroupFloats / (kPanel * std::max(1, g.x.rows));
  const int group = std::max(1, fit / kWide) * kWide;
  for (int o0 = 0; o0 < all; o0 += group) {
    const int o1 = std::min(all, o0 + group);
    for (int ip = 0; ip < panels(g.dw.rows); ++ip) {
      for (int op = o0; op < o1;) {
        const int wide = o1 - op;
        if (wide >= kWide) {
          gradient_panel<kShard, kWide>(g, ip, op);
          op += kWide;
        } else if (wide >= 2) {
          gradient_panel<kShard, std::min(2, kWide)>(g, ip, op);
          op += std::min(2, kWide);
        } else {
          gradient_panel<kShard, 1>(g, ip, op++);
        }
      }
    }
  }
}

/// kR outputs from `o` are broadcast, kP panels of inputs are vectors: c(r, i) = dw(i, o + r).
template <int kShard, int kR, int kP>
HWY_NOINLINE void thin_tile(const Gradient& g, int ip, int o, TreeSum<kR, kP>& tree, float* flat) {
  Tile<kR, kP> c;
  tree.template run<kShard, 1, kPanel>(g.leaves, 0, g.leaves.count, g.dy.data + o,
                                       g.x.data + static_cast<std::size_t>(ip) * g.x.panel_stride,
                                       g.x.panel_stride, c);
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v)
        store(c[r][v], vector_at(flat, kBlock, v) + (o + r) * kPanel);
  }
}

/// The roles swapped, for a thin layer: 10 outputs would leave 6 of 16 lanes idle. a * b = b * a: the same
/// bits.
template <int kShard, int kP>
void thin_panels(const Gradient& g, int ip) {
  alignas(64) float flat[kP * kBlock] = {};  // what no output fills becomes the padding of dw
  for (int o = 0; o < g.dw.columns;) {
    if (g.dw.columns - o >= kThinRows) {
      TreeSum<kThinRows, kP> tree;
      thin_tile<kShard>(g, ip, o, tree, flat);
      o += kThinRows;
    } else {
      TreeSum<1, kP> tree;
      thin_tile<kShard>(g, ip, o++, tree, flat);
    }
  }
  for (int p = 0; p < kP; ++p) transpose_block(flat + p * kBlock, g.dw.data + (ip + p) * kBlock);
}
template <int kShard>
void thin_gradient(const Gradient& g) {
  int ip = 0;
  for (; ip + kThinPanels <= panels(g.dw.rows); ip += kThinPanels) thin_panels<kShard, kThinPanels>(g, ip);
  for (; ip < panels(g.dw.rows); ++ip) thin_panels<kShard, 1>(g, ip);
}

/// Zero where dw has no element, so that sums over an arena may run over it.
void clear_padding(Matrix dw, bool columns_too) {
  const int rows = panels(dw.rows) * kPanel, columns = panels(dw.columns) * kPanel;
  for (int r = columns_too && dw.columns < columns ? 0 : dw.rows; r < rows; ++r) {
    for (int c = r < dw.rows ? dw.columns : 0; c < columns; ++c) dw.at(r, c) = 0;
  }
}

template <int kShard>
void gradient(const Gradient& g) {
  const bool thin = g.dw.columns <= kThinColumns;
  if (thin) {
    thin_gradient<kShard>(g);
  } else {
    wide_gradient<kShard>(g);
  }
  clear_padding(g.dw, !thin);
}

void linear_backward_weights(ConstMatrix x, ConstMatrix dy, int shard_rows, Matrix dw) {
  const Gradient g{x, dy, leaves_of(x.rows, shard_rows), dw};
  switch (shard_rows) {
    case 4:
      return gradient<4>(g);
    case 8:
      return gradient<8>(g);
    case 16:
      return gradient<16>(g);
    case 32:
      return gradient<32>(g);
    default:
      return gradient<0>(g);
  }
}

void sum_rows(ConstMatrix x, int shard_rows, float* sums) {
  const float one = 1;
  const Leaves leaves = leaves_of(x.rows, shard_rows);
  for (int p = 0; p < panels(x.columns); ++p) {
    TreeSum<1, 1> tree;
    Tile<1, 1> c;
    tree.run<0, 0, 0>(leaves, 0, leaves.count, &one, x.data + static_cast<std::size_t>(p) * x.panel_stride,
                      x.panel_stride, c);
    for (int v = 0; v < kVectors; ++v) store(c[0][v], sums + p * kPanel + v * kLanes);
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

// Weight gradients of convolutions: one FMA chain over the output pixels of a micro-shard's samples, then the
// binary tree over micro-shards.
#include "kernels/cpu/parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/convolution_gradient.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/band-inl.h"
#include "kernels/cpu/tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace {

static_assert(scratch::kUnitRows % kRows == 0 && kPanels <= scratch::kUnitPanels);
inline constexpr int kBandFloats = 1 << 12;  // of x: 16 KiB, so that dy's part of the band stays in L1 too

/// One row of dw: what it multiplies dy with lies `source` floats from a pixel's place in the band.
struct UnitRow {
  int source, row;
};

/// The rows of dw that are summed together, all against the same panels of dy: their sums under way lie in
/// L1, and those of waiting subtrees behind them.
struct Unit {
  SlideAxis y, x;
  Image image;
  std::size_t image_step = 0;
  BandSize size;
  CopyShape shape;
  int samples = 0, shard_samples = 1, out_pixels = 0;
  ConstMatrix dy;  // of the group
  Matrix dw;
  int panel = 0;  // the first of dy's
  UnitRow rows[scratch::kUnitRows];
  int count = 0;
  float *copy = nullptr, *tree = nullptr;
};

/// sums(r, f) = fma(source of row r at the pixel, dy(pixel, f), sums(r, f)) over a band, for kR rows.
template <int kR, int kP>
HWY_NOINLINE void unit_tile(const Unit& u, const UnitRow* rows, const Band& b, const float* dy, float* sums) {
  const float* from[kR];
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) from[r] = u.copy + rows[r].source;
  Tile<kR, kP> c;
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) c[r][v] =
        load(sums + r * kP * kPanel + v * kLanes);
  }
  const int width = b.x1 - b.x0;
  const auto step = static_cast<std::size_t>(u.x.step * u.shape.pixel);
  for (int y = b.y0; y < b.y1; ++y, dy += u.x.count * kPanel) {
    auto at = static_cast<std::size_t>((y - b.y0) * u.y.step * u.shape.row);
    const float* line = dy;
    _Pragma("GCC unroll 4") for (int x = 0; x < width; ++x, at += step, line += kPanel) {
      F32 g[kP * kVectors];
      MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) g[v] =
          load(vector_at(line, u.dy.panel_stride, v));
      MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
        const F32 value = broadcast(from[r][at]);
        MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) c[r][v] = fma(value, g[v], c[r][v]);
      }
    }
  }
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v)
        store(c[r][v], sums + r * kP * kPanel + v * kLanes);
  }
}

/// Adds the samples of one leaf to u.tree, band by band.
template <int kP>
void add_leaf(const Unit& u, int first, int last) {
  using Run = void (*)(const Unit&, const UnitRow*, const Band&, const float*, float*);
  constexpr auto kTiles = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array<Run, kRows>{&unit_tile<r + 1, kP>...};
  }
  (std::make_integer_sequence<int, kRows>());
  const int tiles = (u.count + kRows - 1) / kRows;  // of even height
  const float* const panel = u.dy.data + static_cast<std::size_t>(u.panel) * u.dy.panel_stride;
  for (int sample = first; sample < last; ++sample) {
    Image image = u.image;
    image.data += static_cast<std::size_t>(sample) * u.image_step;
    each_band(u.y, u.x, u.size, [&](const Band& b) HWY_ATTR {
      copy_band(u.y, u.x, b, image, u.shape, u.copy);
      const float* const dy = panel + (sample * u.out_pixels + b.y0 * u.x.count + b.x0) * kPanel;
      for (int t = 0, m = 0; t < tiles; ++t) {
        const int rows = (u.count - m) / (tiles - t);
        kTiles[static_cast<std::size_t>(rows - 1)](u, u.rows + m, b, dy, u.tree + m * kP * kPanel);
        m += rows;
      }
    });
  }
}

template <int kP>
void sum_unit(const Unit& u) {
  const int floats = u.count * kP * kPanel;
  const int leaves = std::max(1, (u.samples + u.shard_samples - 1) / u.shard_samples);
  for (int leaf = 0; leaf < leaves; ++leaf) {
    std::fill_n(u.tree, floats, 0.0F);
    add_leaf<kP>(u, leaf * u.shard_samples, std::min(u.samples, (leaf + 1) * u.shard_samples));
    // The digits of a binary counter are the subtrees that wait for their right siblings.
    int level = 0;
    for (int number = leaf; number != 0; ++level, number >>= 1) {
      if ((number & 1) == 0 && leaf + 1 < leaves) break;
      if ((number & 1) == 0) continue;
      const float* const left = u.tree + (level + 1) * floats;
      for (int i = 0; i < floats; i += kLanes) store(load(left + i) + load(u.tree + i), u.tree + i);
    }
    if (leaf + 1 < leaves) std::copy_n(u.tree, floats, u.tree + (level + 1) * floats);
  }
  for (int r = 0; r < u.count; ++r) {
    for (int v = 0; v < kP * kVectors; ++v) {
      const int real = u.dw.columns - u.panel * kPanel - v * kLanes;
      const F32 sum = select(first_lanes(real), load(u.tree + r * kP * kPanel + v * kLanes), zero());
      float* const panel = u.dw.data + static_cast<std::size_t>(u.panel) * u.dw.panel_stride;
      store(sum, vector_at(panel, u.dw.panel_stride, v) + u.rows[r].row * kPanel);
    }
  }
}

void sum_panels(Unit& u) {
  const int all = panels(u.dw.columns);
  for (u.panel = 0; u.panel + kPanels <= all; u.panel += kPanels) sum_unit<kPanels>(u);
  for (; u.panel < all; ++u.panel) sum_unit<1>(u);
}

/// All rows of dw whose channels lie in one panel of x (or, packed, all rows), a unit at a time.
void sum_rows_of(const Convolution& g, int first_channel, int channels, Unit& u) {
  u.size = band_size(u.y, u.x, u.image.packed ? u.image.channels : kPanel, kBandFloats);
  u.shape = copy_shape(u.y, u.x, u.size, u.image);
  u.count = 0;
  for (int tap = 0; tap < g.window.taps(); ++tap) {
    const int y = tap / g.window.x.size, x = tap % g.window.x.size;
    const int source = (u.y.at[y] - u.y.lowest) * u.shape.row + (u.x.at[x] - u.x.lowest) * u.shape.pixel;
    for (int c = 0; c < channels; ++c) {
      u.rows[u.count++] = {source + c, g.kernel_row(tap, first_channel + c)};
      if (u.count == scratch::kUnitRows) {
        sum_panels(u);
        u.count = 0;
      }
    }
  }
  if (u.count > 0) sum_panels(u);
}

/// Zero where dw has no element, so that sums over an arena may run over it. Columns: see sum_unit.
void clear_padding(const Convolution& g, Matrix dw) {
  for (int row = 0; row < padded(dw.rows); ++row) {
    if (row < dw.rows && row % g.tap_rows() < g.group_channels()) continue;
    for (int p = 0; p < panels(dw.columns); ++p)
      std::fill_n(dw.data + static_cast<std::size_t>(p) * dw.panel_stride + row * kPanel, kPanel, 0.0F);
  }
}

void convolve_backward_weights(const Convolution& g, ConstMatrix x, ConstMatrix dy, int shard_samples,
                               Matrix dw, float* scratch) {
  Unit u;
  forward_axis(g.window.y, u.y);
  forward_axis(g.window.x, u.x);
  u.out_pixels = g.window.out_pixels();
  u.samples = dy.rows / u.out_pixels;
  u.shard_samples = shard_samples;
  u.image_step = static_cast<std::size_t>(g.packed ? 1 : g.window.in_pixels()) * kPanel;
  u.tree = scratch;
  u.copy = scratch + scratch::kTreeFloats;
  const auto panel = [](auto& m, int column) {
    return m.data + static_cast<std::size_t>(column / kPanel) * m.panel_stride;
  };
  for (int group = 0; group < g.groups; ++group) {
    const int first = group * g.group_filters(), channels = g.group_channels();
    u.dy = {panel(dy, first), dy.rows, g.group_filters(), dy.panel_stride};
    u.dw = {panel(dw, first), dw.rows, g.group_filters(), dw.panel_stride};
    if (g.packed) {
      u.image = {x.data, x.panel_stride, 1, g.channels, true};
      sum_rows_of(g, 0, channels, u);
      continue;
    }
    for (int c = 0; c < channels; c += kPanel) {
      u.image = {panel(x, group * channels + c), x.panel_stride, 1};
      sum_rows_of(g, c, std::min(kPanel, channels - c), u);
    }
  }
  clear_padding(g, dw);
}

const ConvolutionGradientTable kTable = {&convolve_backward_weights};

}  // namespace

const ConvolutionGradientTable* convolution_gradient_table() {
  return &kTable;
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mirrorscale::kernels::cpu {
HWY_EXPORT(convolution_gradient_table);
const ConvolutionGradientTable* chosen_convolution_gradient_table() {
  return HWY_DYNAMIC_DISPATCH(convolution_gradient_table)();
}
}  // namespace mirrorscale::kernels::cpu
#endif

// Convolutions and their input gradients: every element is one FMA chain over the taps and the channels (or
// filters) of each, from +0; padding takes part as +0.
#include "kernels/cpu/parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/convolution.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/band-inl.h"
#include "kernels/cpu/finish-inl.h"
#include "kernels/cpu/tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace {

inline constexpr int kGroupFloats = 1 << 16;  // of weights, that stay in L2 while a band passes

/// Where a tap's source lies from a pixel's place in the band, and its weights from a panel's first: floats.
struct TapPlace {
  std::size_t source, weights;
};
/// Where a pixel's lowest source lies in the band, and its row in the result's panel: floats.
struct PixelPlace {
  int source, row;
};

/// A product of the windows of images with a kernel.
struct Slide {
  SlideAxis y, x;
  Image image;  // the first sample's; image_step floats on the next one's
  std::size_t image_step = 0;
  CopyShape shape;                    // of a band
  int depth = 0;                      // values of a tap
  const float* weights = nullptr;     // of the first panel of outputs, tap 0
  std::size_t weight_panel = 0;       // floats from one panel of outputs to the next
  std::size_t tap_floats = 0;         // from one tap to the next
  int taps_wide = 1;                  // taps of a row of the kernel
  int out_width = 0, out_pixels = 0;  // of an image of the result
  Matrix out;
  const float* bias = kNoBias;
  std::size_t bias_step = 0;
  ConstMatrix saved;

  TapPlace taps[kMostTaps];
  int tap_count = 0;
  PixelPlace pixels[scratch::kBandPixels];
};

/// The sums of kR pixels x kP panels of outputs from panel `n`; `first`: floats to the image's first row in
/// the result.
template <int kR, int kP>
HWY_NOINLINE void slide_tile(const Slide& s, const float* band, const PixelPlace* pixels, std::size_t first,
                             int n) {
  const float* from[kR];
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) from[r] = band + pixels[r].source;
  const float* const weights = s.weights + static_cast<std::size_t>(n) * s.weight_panel;
  Tile<kR, kP> c;
  clear<kR, kP>(c);
  const auto step = [&](const float* b, std::size_t at) HWY_ATTR {
    F32 line[kP * kVectors];
    MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) line[v] =
        load(vector_at(b, s.weight_panel, v));
    MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
      const F32 value = broadcast(from[r][at]);
      MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) c[r][v] = fma(value, line[v], c[r][v]);
    }
  };
  for (const TapPlace *tap = s.taps, *end = s.taps + s.tap_count; tap != end; ++tap) {
    const float* b = weights + tap->weights;
    std::size_t at = tap->source;
    int k = s.depth;
    for (; k >= kPanel; k -= kPanel, at += s.shape.panel, b += kBlock) {
      _Pragma("GCC unroll 4") for (std::size_t i = 0; i < kPanel; ++i) step(b + i * kPanel, at + i);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) step(b + i * kPanel, at + i);
  }
  float* const out = s.out.data + static_cast<std::size_t>(n) * s.out.panel_stride + first;
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v)
        store(c[r][v], vector_at(out, s.out.panel_stride, v) + pixels[r].row);
  }
}

/// What is done to the sums of one panel while they are in L1.
template <Pass kPass, Activation kFunction>
void finish_pixels(const Slide& s, const PixelPlace* pixels, int count, std::size_t first, int n) {
  const auto panel = static_cast<std::size_t>(n);
  const float* const bias = s.bias + panel * s.bias_step;
  float* const out = s.out.data + panel * s.out.panel_stride + first;
  const float* const saved = s.saved ? s.saved.data + panel * s.saved.panel_stride + first : out;
  for (int i = 0; i < count; ++i) {
    MIRRORSCALE_UNROLL for (int lane = 0; lane < kPanel; lane += kLanes) {
      float* const at = out + pixels[i].row + lane;
      store(finish<kPass, kFunction>(load(at), bias + lane, saved + pixels[i].row + lane), at);
    }
  }
}
using Finish = void (*)(const Slide&, const PixelPlace*, int, std::size_t, int);
template <Pass kPass>
Finish finish_of(Activation f) {
  Finish chosen = nullptr;
  exact::with_activation(f, [&](auto kind) { chosen = &finish_pixels<kPass, kind()>; });
  return chosen;
}

void place_taps(Slide& s) {
  s.tap_count = 0;
  for (int i = 0; i < s.y.taps; ++i) {
    for (int j = 0; j < s.x.taps; ++j) {
      const int source = (s.y.at[i] - s.y.lowest) * s.shape.row + (s.x.at[j] - s.x.lowest) * s.shape.pixel;
      const int tap = s.y.tap[i] * s.taps_wide + s.x.tap[j];
      s.taps[s.tap_count++] = {static_cast<std::size_t>(source),
                               static_cast<std::size_t>(tap) * s.tap_floats};
    }
  }
}

void place_pixels(Slide& s, const Band& b) {
  PixelPlace* at = s.pixels;
  for (int y = b.y0; y < b.y1; ++y) {
    const int row = (s.y.first + y * s.y.stride) * s.out_width;
    for (int x = b.x0; x < b.x1; ++x) {
      *at++ = {(y - b.y0) * s.y.step * s.shape.row + (x - b.x0) * s.x.step * s.shape.pixel,
               (row + s.x.first + x * s.x.stride) * kPanel};
    }
  }
}

/// `finish`: null where nothing is done to the sums.
void slide(Slide& s, int samples, Finish finish, float* copy) {
  using Run = void (*)(const Slide&, const float*, const PixelPlace*, std::size_t, int);
  // [panels - 1][rows - 1]
  constexpr auto kTiles = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array<std::array<Run, kRows>, 2>{
        std::array<Run, kRows>{&slide_tile<r + 1, 1>...},
        std::array<Run, kRows>{&slide_tile<r + 1, kPanels>...},
    };
  }
  (std::make_integer_sequence<int, kRows>());
  const int all = panels(s.out.columns);
  const int of_panel = std::max(1, s.y.taps * s.x.taps * s.depth * kPanel);
  const int group = std::max(1, kGroupFloats / of_panel / kPanels) * kPanels;
  const BandSize size =
      band_size(s.y, s.x, s.image.packed ? s.image.channels : s.image.panels * kPanel, scratch::kBandFloats);
  s.shape = copy_shape(s.y, s.x, size, s.image);
  place_taps(s);
  for (int n0 = 0; n0 < all; n0 += group) {
    const int n1 = std::min(all, n0 + group);
    each_band(s.y, s.x, size, [&](const Band& b) HWY_ATTR {
      place_pixels(s, b);
      Image image = s.image;
      const int pixels = b.pixels(), tiles = (pixels + kRows - 1) / kRows;  // of even height
      for (int sample = 0; sample < samples; ++sample, image.data += s.image_step) {
        copy_band(s.y, s.x, b, image, s.shape, copy);
        const std::size_t first = static_cast<std::size_t>(sample * s.out_pixels) * kPanel;
        for (int n = n0; n < n1;) {
          const int wide = std::min(kPanels, n1 - n);
          for (int t = 0, m = 0; t < tiles; ++t) {
            const int rows = (pixels - m) / (tiles - t);
            kTiles[static_cast<std::size_t>(wide - 1)][static_cast<std::size_t>(rows - 1)](
                s, copy, s.pixels + m, first, n);
            for (int p = n; finish != nullptr && p < n + wide; ++p) finish(s, s.pixels + m, rows, first, p);
            m += rows;
          }
          n += wide;
        }
      }
    });
  }
}

/// Columns first .. first + count - 1 of a matrix; `first` begins a panel.
template <class T>
BasicMatrix<T> columns_of(const BasicMatrix<T>& m, int first, int count) {
  return {m.data + static_cast<std::size_t>(first / kPanel) * m.panel_stride, m.rows, count, m.panel_stride,
          m.row_stride};
}

void convolve(const Convolution& g, ConstMatrix x, ConstMatrix w, const float* b, Activation f, Matrix y,
              float* scratch) {
  Slide s;
  forward_axis(g.window.y, s.y);
  forward_axis(g.window.x, s.x);
  s.depth = g.group_channels();
  s.taps_wide = g.window.x.size;
  s.tap_floats = static_cast<std::size_t>(g.tap_rows()) * kPanel;
  if (g.packed && g.window.x.dilation == 1) {  // taps of a row lie side by side, in the kernel too
    s.x.taps = 1;
    s.depth *= g.window.x.size;
  }
  s.weight_panel = w.panel_stride;
  s.out_width = g.window.x.out;
  s.out_pixels = g.window.out_pixels();
  s.image_step = static_cast<std::size_t>(g.packed ? 1 : g.window.in_pixels()) * kPanel;
  for (int group = 0; group < g.groups; ++group) {
    const int first = group * g.group_filters();
    const ConstMatrix from = columns_of(x, group * g.group_channels(), g.packed ? x.columns : s.depth);
    s.image = {from.data, from.panel_stride, panels(from.columns), g.packed ? g.channels : 0, g.packed};
    s.weights = columns_of(w, first, g.group_filters()).data;
    s.out = columns_of(y, first, g.group_filters());
    if (b != nullptr) {
      s.bias = b + first;
      s.bias_step = kPanel;
    }
    const bool plain = b == nullptr && f == Activation::kLinear;
    slide(s, y.rows / s.out_pixels, plain ? nullptr : finish_of<Pass::kForward>(f), scratch);
  }
}

void convolve_backward_input(const Convolution& g, ConstMatrix dy, ConstMatrix wt, Activation f,
                             ConstMatrix saved, Matrix dx, float* scratch) {
  Slide s;
  s.depth = g.group_filters();
  s.taps_wide = g.window.x.size;
  s.tap_floats = static_cast<std::size_t>(panels(g.tap_rows())) * wt.panel_stride;
  s.weight_panel = wt.panel_stride;
  s.out_width = g.window.x.in;
  s.out_pixels = g.window.in_pixels();
  s.image_step = static_cast<std::size_t>(g.window.out_pixels()) * kPanel;
  for (int group = 0; group < g.groups; ++group) {
    const int first = group * g.group_channels();
    const ConstMatrix from = columns_of(dy, group * s.depth, s.depth);
    s.image = {from.data, from.panel_stride, panels(s.depth)};
    s.weights = wt.data + group * s.depth * kPanel;
    s.out = columns_of(dx, first, g.group_channels());
    if (f != Activation::kLinear) s.saved = columns_of(saved, first, g.group_channels());
    for (int y = 0; y < std::min(g.window.y.stride, g.window.y.in); ++y) {
      for (int x = 0; x < std::min(g.window.x.stride, g.window.x.in); ++x) {
        s.y = {};
        s.x = {};
        backward_axis(g.window.y, y, s.y);
        backward_axis(g.window.x, x, s.x);
        slide(s, dx.rows / s.out_pixels, f == Activation::kLinear ? nullptr : finish_of<Pass::kBackward>(f),
              scratch);
      }
    }
  }
}

const ConvolutionTable kTable = {&convolve, &convolve_backward_input};

}  // namespace

const ConvolutionTable* convolution_table() {
  return &kTable;
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mirrorscale::kernels::cpu {
HWY_EXPORT(convolution_table);
const ConvolutionTable* chosen_convolution_table() {
  return HWY_DYNAMIC_DISPATCH(convolution_table)();
}
}  // namespace mirrorscale::kernels::cpu
#endif

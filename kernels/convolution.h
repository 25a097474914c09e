#pragma once
#include "kernels/matrix.h"

#include <algorithm>
#include <cstddef>

namespace mirrorscale::kernels {

/// Of one axis of a window that slides over images: output o looks at inputs o * stride - pad + k * dilation,
/// k = 0 .. size - 1, the tap's number. What lies outside of 0 .. in - 1 is padding.
struct WindowAxis {
  int in = 1, out = 1;
  int size = 1, stride = 1, dilation = 1;
  int pad = 0;  // before the first input; behind the last one follows from the sizes

  bool operator==(const WindowAxis&) const = default;
  constexpr int source(int o, int k) const { return o * stride - pad + k * dilation; }
  /// Whether there is an output that sees input `i` through tap k, or the steps of the window pass over it:
  /// output_of(i, k), which may lie outside of 0 .. out - 1.
  constexpr bool has_output(int i, int k) const { return (i + pad - k * dilation) % stride == 0; }
  constexpr int output_of(int i, int k) const { return (i + pad - k * dilation) / stride; }
};

/// A window over images. Pixels are numbered row after row; so are taps. An image's pixels are consecutive
/// rows of a matrix [samples * pixels, channels].
struct Window {
  WindowAxis y, x;

  bool operator==(const Window&) const = default;
  constexpr int taps() const { return y.size * x.size; }
  constexpr int in_pixels() const { return y.in * x.in; }
  constexpr int out_pixels() const { return y.out * x.out; }
};

/// Taps that a convolution may have at most.
inline constexpr int kMostTaps = 1024;

/// A two-dimensional convolution. Filter f belongs to group f / (filters / groups), and sees the channels of
/// that group only. The kernel is a matrix with a row for each (tap, channel of the group), see kernel_row,
/// and a column a filter. `packed`: x is [samples, pixels * channels], an image a row; then groups is 1.
struct Convolution {
  Window window;
  int channels = 1, filters = 1, groups = 1;
  bool packed = false;

  bool operator==(const Convolution&) const = default;
  constexpr int group_channels() const { return channels / groups; }
  constexpr int group_filters() const { return filters / groups; }
  /// Rows from one tap to the next: whole panels, so that a transposed copy's panels belong to one tap.
  constexpr int tap_rows() const { return packed ? channels : padded(group_channels()); }
  constexpr int kernel_row(int tap, int channel) const { return tap * tap_rows() + channel; }
  constexpr int kernel_rows() const {
    return window.taps() == 1 ? group_channels() : window.taps() * tap_rows();
  }
};

/// Where a convolution on the host keeps one part of an image with its zero borders, and the sums that are
/// under way: floats of `scratch`.
namespace scratch {
inline constexpr int kBandPixels = 1024, kBandWidth = 512;  // outputs of a band at most
inline constexpr int kBandFloats = 1 << 15;                 // of its image, unless one row of it takes more
inline constexpr int kUnitRows = 144, kUnitPanels = 2;      // of a part of dw
inline constexpr int kTreeLevels = 31;
inline constexpr std::size_t kTreeFloats = std::size_t{kTreeLevels + 1} * kUnitRows * kUnitPanels * kPanel;

/// Inputs that `outputs` neighbouring outputs look at, padding included.
constexpr int extent(const WindowAxis& axis, int outputs) {
  return (outputs - 1) * axis.stride + (axis.size - 1) * axis.dilation + 1;
}
}  // namespace scratch

/// Floats that the ops of a convolution want as `scratch`.
inline std::size_t convolution_scratch(const Convolution& g) {
  const auto row = [&](const WindowAxis& y, const WindowAxis& x, int outputs, int channels) {
    return static_cast<std::size_t>(scratch::extent(y, 1)) *
           static_cast<std::size_t>(scratch::extent(x, std::min(outputs, scratch::kBandWidth))) *
           static_cast<std::size_t>(channels);
  };
  const Window& w = g.window;
  const std::size_t forward = row(w.y, w.x, w.x.out, g.packed ? g.channels : padded(g.channels)),
                    backward = row(w.y, w.x, w.x.in, padded(g.filters));
  return std::max({forward, backward, std::size_t{scratch::kBandFloats}}) + scratch::kTreeFloats + kPanel;
}

}  // namespace mirrorscale::kernels

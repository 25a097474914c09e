// A part of an image copied with its zero borders, so that every tap of every output lies at a fixed distance
// from the output's place. Included once a target.
#if defined(MIRRORSCALE_BAND_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MIRRORSCALE_BAND_INL_H
#undef MIRRORSCALE_BAND_INL_H
#else
#define MIRRORSCALE_BAND_INL_H
#endif

#include "kernels/convolution.h"
#include "kernels/cpu/lanes-inl.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {

// Register blocking of convolutions: rows of a tile (any pixels of a band, or rows of a weight gradient), and
// panels.
#if HWY_CAP_GE512
inline constexpr int kRows = 12, kPanels = 2;
#elif HWY_CAP_GE256
inline constexpr int kRows = 6, kPanels = 1;
#else
inline constexpr int kRows = 1, kPanels = 1;
#endif

/// One axis of a product over windows: output o = 0 .. count - 1 takes source o * step + at[i] for each of
/// its taps i, whose numbers in the kernel are tap[i], and is output first + o * stride of the result.
struct SlideAxis {
  int count = 0, step = 1, taps = 0;
  int first = 0, stride = 1;
  int sources = 0;            // of the image; others are padding
  int lowest = 0, reach = 1;  // the least of at[], and the sources from it to the greatest
  int at[kMostTaps], tap[kMostTaps];

  void add(int source, int number) {
    at[taps] = source;
    tap[taps] = number;
    ++taps;
  }
  void close() {
    lowest = taps == 0 ? 0 : *std::min_element(at, at + taps);
    reach = taps == 0 ? 1 : *std::max_element(at, at + taps) - lowest + 1;
  }
  /// Sources that `outputs` neighbouring outputs take.
  int extent(int outputs) const { return (outputs - 1) * step + reach; }
};

HWY_INLINE void forward_axis(const WindowAxis& w, SlideAxis& axis) {
  axis.count = w.out;
  axis.step = w.stride;
  axis.sources = w.in;
  for (int k = 0; k < w.size; ++k) axis.add(w.source(0, k), k);
  axis.close();
}
/// The inputs first, first + stride, …: all see the same taps, and step over the outputs one by one.
HWY_INLINE void backward_axis(const WindowAxis& w, int first, SlideAxis& axis) {
  axis.count = (w.in - first + w.stride - 1) / w.stride;
  axis.first = first;
  axis.stride = w.stride;
  axis.sources = w.out;
  for (int k = 0; k < w.size; ++k) {
    if (w.has_output(first, k)) axis.add(w.output_of(first, k), k);
  }
  axis.close();
}

/// The outputs [y0, y1) x [x0, x1) of one image.
struct Band {
  int y0 = 0, y1 = 0, x0 = 0, x1 = 0;
  int pixels() const { return (y1 - y0) * (x1 - x0); }
};
/// How large bands are: rows and columns of outputs.
struct BandSize {
  int rows = 1, columns = 1;
};
/// `floats`: that a source pixel takes; `most`: that a band should take. A part of a row is a band by itself,
/// so that bands follow each other in the order of the pixels.
HWY_INLINE BandSize band_size(const SlideAxis& y, const SlideAxis& x, int floats, int most) {
  BandSize size{1, std::min(x.count, scratch::kBandWidth)};
  if (size.columns < x.count) return size;
  const int row = x.extent(size.columns) * floats;
  const int fit = std::max(1, (most / row - y.reach) / y.step + 1);
  const int bands = std::max(1, (y.count + fit - 1) / fit);
  size.rows = std::min((y.count + bands - 1) / bands, std::max(1, scratch::kBandPixels / size.columns));
  return size;
}
template <class Body>
HWY_INLINE void each_band(const SlideAxis& y, const SlideAxis& x, BandSize size, const Body& body) {
  for (int y0 = 0; y0 < y.count; y0 += size.rows) {
    for (int x0 = 0; x0 < x.count; x0 += size.columns) {
      body(Band{y0, std::min(y.count, y0 + size.rows), x0, std::min(x.count, x0 + size.columns)});
    }
  }
}

/// An image's pixels as they lie in memory.
struct Image {
  const float* data = nullptr;  // of its first row; `packed`: of its only one
  std::size_t panel_stride = 0;
  int panels = 1;
  int channels = 0;  // packed only
  bool packed = false;
};

/// Floats from one source pixel, one row of them, and one panel of channels to the next in a copy; the same
/// for all bands.
struct CopyShape {
  int pixel = kPanel, row = 0;
  std::size_t panel = 0;
};
HWY_INLINE CopyShape copy_shape(const SlideAxis& y, const SlideAxis& x, BandSize size, const Image& image) {
  CopyShape shape;
  shape.pixel = image.packed ? image.channels : kPanel;
  shape.row = x.extent(size.columns) * shape.pixel;
  // 16 contiguous values of a packed image count as a panel.
  shape.panel = image.packed ? kPanel : static_cast<std::size_t>(y.extent(size.rows) * shape.row);
  return shape;
}

/// Values first .. first + count - 1 of a packed image.
HWY_INLINE void copy_packed(const Image& image, int first, int count, float* to) {
  while (count > 0) {
    const int lane = first % kPanel, run = std::min(count, kPanel - lane);
    std::memcpy(to, image.data + static_cast<std::size_t>(first / kPanel) * image.panel_stride + lane,
                static_cast<std::size_t>(run) * sizeof(float));
    first += run;
    count -= run;
    to += run;
  }
}

/// Copies what the outputs of a band look at.
HWY_INLINE void copy_band(const SlideAxis& y, const SlideAxis& x, const Band& b, const Image& image,
                          const CopyShape& shape, float* copy) {
  const int rows = y.extent(b.y1 - b.y0), columns = x.extent(b.x1 - b.x0);
  const int top = b.y0 * y.step + y.lowest, left = b.x0 * x.step + x.lowest;
  const int from = std::clamp(-left, 0, columns), until = std::clamp(x.sources - left, from, columns);
  const auto floats = [&](int pixels) { return static_cast<std::size_t>(pixels * shape.pixel); };
  for (int p = 0; p < (image.packed ? 1 : image.panels); ++p) {
    float* to = copy + static_cast<std::size_t>(p) * shape.panel;
    for (int r = 0; r < rows; ++r, to += shape.row) {
      const int source = top + r;
      if (source < 0 || source >= y.sources) {
        std::memset(to, 0, floats(columns) * sizeof(float));
        continue;
      }
      const int first = source * x.sources + left + from;
      std::memset(to, 0, floats(from) * sizeof(float));
      if (image.packed) {
        copy_packed(image, first * shape.pixel, (until - from) * shape.pixel, to + floats(from));
      } else {
        std::memcpy(to + floats(from),
                    image.data + static_cast<std::size_t>(p) * image.panel_stride + floats(first),
                    floats(until - from) * sizeof(float));
      }
      std::memset(to + floats(until), 0, floats(columns - until) * sizeof(float));
    }
  }
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

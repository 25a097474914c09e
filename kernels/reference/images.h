#pragma once
#include "kernels/convolution.h"
#include "kernels/reference/ops.h"

#include <cstddef>

/// Ops of backend.h on images as plain loops over a number type, as reference/ops.h.
namespace mirrorscale::kernels::reference {

/// What an image [samples * pixels, channels], or packed, holds at (y, x); +0 outside of it.
template <class T>
T pixel(const Convolution& g, BasicMatrix<const T> image, int sample, int y, int x, int channel) {
  const WindowAxis &vertical = g.window.y, &horizontal = g.window.x;
  if (y < 0 || y >= vertical.in || x < 0 || x >= horizontal.in) return T(0);
  const int at = y * horizontal.in + x;
  return g.packed ? image.at(sample, at * g.channels + channel)
                  : image.at(sample * g.window.in_pixels() + at, channel);
}

template <class T>
void convolve(const Convolution& g, BasicMatrix<const T> x, BasicMatrix<const T> w, const T* b, Activation f,
              BasicMatrix<T> y) {
  const WindowAxis &vertical = g.window.y, &horizontal = g.window.x;
  for (int row = 0; row < y.rows; ++row) {
    const int sample = row / g.window.out_pixels(), o = row % g.window.out_pixels();
    for (int filter = 0; filter < g.filters; ++filter) {
      const int first = filter / g.group_filters() * g.group_channels();
      T sum = 0;
      for (int tap = 0; tap < g.window.taps(); ++tap) {
        const int from_y = vertical.source(o / horizontal.out, tap / horizontal.size),
                  from_x = horizontal.source(o % horizontal.out, tap % horizontal.size);
        for (int c = 0; c < g.group_channels(); ++c) {
          sum = number::fma(pixel(g, x, sample, from_y, from_x, first + c),
                            w.at(g.kernel_row(tap, c), filter), sum);
        }
      }
      y.at(row, filter) = apply(f, b == nullptr ? sum : sum + b[filter]);
    }
  }
}

template <class T>
void convolve_backward_input(const Convolution& g, BasicMatrix<const T> dy, BasicMatrix<const T> wt,
                             Activation f, BasicMatrix<const T> saved, BasicMatrix<T> dx) {
  const WindowAxis &vertical = g.window.y, &horizontal = g.window.x;
  for (int row = 0; row < dx.rows; ++row) {
    const int sample = row / g.window.in_pixels(), i = row % g.window.in_pixels();
    const int y = i / horizontal.in, x = i % horizontal.in;
    for (int channel = 0; channel < g.channels; ++channel) {
      const int first = channel / g.group_channels() * g.group_filters();
      T sum = 0;
      for (int tap = 0; tap < g.window.taps(); ++tap) {
        const int ky = tap / horizontal.size, kx = tap % horizontal.size;
        if (!vertical.has_output(y, ky) || !horizontal.has_output(x, kx)) continue;
        const int oy = vertical.output_of(y, ky), ox = horizontal.output_of(x, kx);
        const bool inside = oy >= 0 && oy < vertical.out && ox >= 0 && ox < horizontal.out;
        const int from = sample * g.window.out_pixels() + oy * horizontal.out + ox;
        for (int k = first; k < first + g.group_filters(); ++k) {
          sum = number::fma(inside ? dy.at(from, k) : T(0),
                            wt.at(k, g.kernel_row(tap, channel % g.group_channels())), sum);
        }
      }
      dx.at(row, channel) = f == Activation::kLinear ? sum : apply_derivative(f, sum, saved.at(row, channel));
    }
  }
}

template <class T>
void convolve_backward_weights(const Convolution& g, BasicMatrix<const T> x, BasicMatrix<const T> dy,
                               int shard_samples, BasicMatrix<T> dw) {
  const WindowAxis &vertical = g.window.y, &horizontal = g.window.x;
  const int pixels = g.window.out_pixels();
  for (int filter = 0; filter < panels(dw.columns) * kPanel; ++filter) {
    for (int row = 0; row < panels(dw.rows) * kPanel; ++row) {
      const int tap = row / g.tap_rows(), c = row % g.tap_rows();
      if (row >= dw.rows || c >= g.group_channels() || filter >= dw.columns) {
        dw.at(row, filter) = 0;  // so that sums over an arena may run over the padding
        continue;
      }
      const int channel = filter / g.group_filters() * g.group_channels() + c;
      dw.at(row, filter) = tree_sum<T>(dy.rows / pixels, shard_samples, [&](int first, int count) {
        T sum = 0;
        for (int r = first * pixels; r < (first + count) * pixels; ++r) {
          const int o = r % pixels, from_y = vertical.source(o / horizontal.out, tap / horizontal.size),
                    from_x = horizontal.source(o % horizontal.out, tap % horizontal.size);
          sum = number::fma(pixel(g, x, r / pixels, from_y, from_x, channel), dy.at(r, filter), sum);
        }
        return sum;
      });
    }
  }
}

/// Calls visit(pixel of the input) for the taps of output pixel `o` inside of the image, in order.
template <class Visit>
void each_inside(const Window& w, int o, const Visit& visit) {
  for (int tap = 0; tap < w.taps(); ++tap) {
    const int y = w.y.source(o / w.x.out, tap / w.x.size), x = w.x.source(o % w.x.out, tap % w.x.size);
    if (y >= 0 && y < w.y.in && x >= 0 && x < w.x.in) visit(y * w.x.in + x);
  }
}

/// The pixel that a maximum is taken from: the first of the largest, or the last NaN.
template <class T>
int largest(const Window& w, BasicMatrix<const T> x, int first, int o, int channel) {
  int best = -1;
  each_inside(w, o, [&](int at) {
    const T v = x.at(first + at, channel);
    if (best < 0 || v != v || x.at(first + best, channel) < v) best = at;
  });
  return best;
}

template <class T>
void max_pool(const Window& w, BasicMatrix<const T> x, BasicMatrix<T> y) {
  for (int row = 0; row < y.rows; ++row) {
    const int first = row / w.out_pixels() * w.in_pixels();
    for (int c = 0; c < y.columns; ++c)
      y.at(row, c) = x.at(first + largest(w, x, first, row % w.out_pixels(), c), c);
  }
}

/// dx = dx ⊙ f'(saved).
template <class T>
void times_derivative_in_place(Activation f, BasicMatrix<const T> saved, BasicMatrix<T> dx) {
  if (f != Activation::kLinear) activate_backward<T>(f, saved, dx, dx);
}

template <class T>
void max_pool_backward(const Window& w, BasicMatrix<const T> x, BasicMatrix<const T> dy, Activation f,
                       BasicMatrix<const T> saved, BasicMatrix<T> dx) {
  for (int row = 0; row < dx.rows; ++row) {
    for (int c = 0; c < dx.columns; ++c) dx.at(row, c) = 0;
  }
  for (int row = 0; row < dy.rows; ++row) {
    const int first = row / w.out_pixels() * w.in_pixels();
    for (int c = 0; c < dy.columns; ++c) {
      T& into = dx.at(first + largest(w, x, first, row % w.out_pixels(), c), c);
      into = into + dy.at(row, c);
    }
  }
  times_derivative_in_place(f, saved, dx);
}

/// One over the number of pixels that an average is taken of.
template <class T>
T share_of(const Window& w, int o) {
  int count = 0;
  each_inside(w, o, [&](int) { ++count; });
  return T(1) / static_cast<T>(count);
}

template <class T>
void average_pool(const Window& w, BasicMatrix<const T> x, BasicMatrix<T> y) {
  for (int row = 0; row < y.rows; ++row) {
    const int first = row / w.out_pixels() * w.in_pixels(), o = row % w.out_pixels();
    const T share = share_of<T>(w, o);
    for (int c = 0; c < y.columns; ++c) {
      T sum = 0;
      each_inside(w, o, [&](int at) { sum = sum + x.at(first + at, c); });
      y.at(row, c) = sum * share;
    }
  }
}

template <class T>
void average_pool_backward(const Window& w, BasicMatrix<const T> dy, Activation f, BasicMatrix<const T> saved,
                           BasicMatrix<T> dx) {
  for (int row = 0; row < dx.rows; ++row) {
    for (int c = 0; c < dx.columns; ++c) dx.at(row, c) = 0;
  }
  for (int row = 0; row < dy.rows; ++row) {
    const int first = row / w.out_pixels() * w.in_pixels(), o = row % w.out_pixels();
    const T share = share_of<T>(w, o);
    for (int c = 0; c < dy.columns; ++c) {
      each_inside(w, o, [&](int at) { dx.at(first + at, c) = dx.at(first + at, c) + dy.at(row, c) * share; });
    }
  }
  times_derivative_in_place(f, saved, dx);
}

template <class T>
void pack_pixels(int pixels, BasicMatrix<const T> x, BasicMatrix<T> packed) {
  for (int row = 0; row < x.rows; ++row) {
    for (int c = 0; c < x.columns; ++c) packed.at(row / pixels, row % pixels * x.columns + c) = x.at(row, c);
  }
}
template <class T>
void unpack_pixels(int pixels, BasicMatrix<const T> packed, Activation f, BasicMatrix<const T> saved,
                   BasicMatrix<T> x) {
  for (int row = 0; row < x.rows; ++row) {
    for (int c = 0; c < x.columns; ++c) x.at(row, c) = packed.at(row / pixels, row % pixels * x.columns + c);
  }
  times_derivative_in_place(f, saved, x);
}

}  // namespace mirrorscale::kernels::reference

// Pooling, and the pixels of an image as one row.
#include "kernels/cpu/parts.h"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pooling.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace {

/// The taps of one output inside of the image, from pixel `first` on: rows x columns, `width` pixels to a
/// row.
struct Field {
  int first = 0, rows = 0, columns = 0, width = 0;
  int row_step = 1, column_step = 1;  // pixels
  int count() const { return rows * columns; }
};

struct Inside {
  int first = 0, count = 0;
};
HWY_INLINE Inside inside(const WindowAxis& axis, int o) {
  if (axis.dilation == 1) {
    const int begin = axis.source(o, 0), first = std::max(0, begin);
    return {first, std::min(axis.in, begin + axis.size) - first};
  }
  Inside in;
  for (int k = 0; k < axis.size; ++k) {
    const int source = axis.source(o, k);
    if (source < 0 || source >= axis.in) continue;
    if (in.count++ == 0) in.first = source;
  }
  return in;
}

/// body(row of the output, field) for each output pixel of `samples` images.
template <class Body>
HWY_INLINE void each_output(const Window& w, int samples, const Body& body) {
  for (int s = 0, row = 0; s < samples; ++s) {
    for (int oy = 0; oy < w.y.out; ++oy) {
      const Inside y = inside(w.y, oy);
      for (int ox = 0; ox < w.x.out; ++ox, ++row) {
        const Inside x = inside(w.x, ox);
        body(row, Field{s * w.in_pixels() + y.first * w.x.in + x.first, y.count, x.count, w.x.in,
                        w.x.in * w.y.dilation, w.x.dilation});
      }
    }
  }
}
/// body(number of the tap, row of the input) for each pixel of a field, in order.
template <class Body>
HWY_INLINE void each_tap(const Field& f, const Body& body) {
  for (int y = 0, tap = 0; y < f.rows; ++y) {
    for (int x = 0; x < f.columns; ++x, ++tap) body(tap, f.first + y * f.row_step + x * f.column_step);
  }
}

/// The largest so far and the tap that it came from: the first of equals; a NaN stays.
struct Largest {
  F32 value, tap;
  HWY_INLINE void add(F32 v, F32 number) {
    const Mask more = less(value, v), nan = is_nan(v);
    tap = select(nan, number, select(more, number, tap));
    value = select(nan, v, select(more, v, value));
  }
};
template <class Row>
HWY_INLINE Largest largest(const Field& f, const Row& row) {
  Largest best{load(row(f.first)), zero()};
  each_tap(f, [&](int tap, int r) HWY_ATTR {
    if (tap > 0) best.add(load(row(r)), broadcast(static_cast<float>(tap)));
  });
  return best;
}

/// body(panel, vector in it) for each vector of a row.
template <class Body>
HWY_INLINE void each_part(int columns, const Body& body) {
  for (int p = 0; p < panels(columns); ++p) {
    for (int v = 0; v < kVectors; ++v) body(static_cast<std::size_t>(p), v * kLanes);
  }
}

void max_pool(const Window& w, ConstMatrix x, Matrix y) {
  each_part(y.columns, [&](std::size_t p, int lane) HWY_ATTR {
    const float* const from = x.data + p * x.panel_stride + lane;
    float* const to = y.data + p * y.panel_stride + lane;
    each_output(w, y.rows / w.out_pixels(), [&](int row, const Field& f) HWY_ATTR {
      F32 best = load(from + f.first * kPanel);
      each_tap(f, [&](int tap, int r) HWY_ATTR {
        const F32 v = load(from + r * kPanel);
        if (tap > 0) best = select(is_nan(v), v, select(less(best, v), v, best));
      });
      store(best, to + row * kPanel);
    });
  });
}

/// Whether each input belongs to exactly one output; then nothing is added up.
bool in_one(const WindowAxis& axis) {
  return axis.dilation == 1 && axis.stride == axis.size && axis.out * axis.size >= axis.in + axis.pad;
}

void clear(Matrix m) {
  for (int p = 0; p < panels(m.columns); ++p)
    std::fill_n(m.data + static_cast<std::size_t>(p) * m.panel_stride, m.rows * kPanel, 0.0F);
}

template <Activation kFunction>
void finish_pool(ConstMatrix saved, Matrix dx) {
  if constexpr (kFunction == Activation::kLinear) return;
  each_part(dx.columns, [&](std::size_t p, int lane) HWY_ATTR {
    for (int r = 0; r < dx.rows; ++r) {
      float* const at = dx.data + p * dx.panel_stride + lane + r * kPanel;
      store(times_derivative<kFunction>(load(at),
                                        load(saved.data + p * saved.panel_stride + lane + r * kPanel)),
            at);
    }
  });
}

/// dx += what each tap of an output gets of dy: prepare(panel, lane, field, dy) gives a function of the tap.
template <Activation kFunction, class Prepare>
void spread(const Window& w, ConstMatrix dy, ConstMatrix saved, Matrix dx, const Prepare& prepare) {
  const bool once = in_one(w.y) && in_one(w.x);
  if (!once) clear(dx);
  each_part(dx.columns, [&](std::size_t p, int lane) HWY_ATTR {
    const float* const from = dy.data + p * dy.panel_stride + lane;
    float* const to = dx.data + p * dx.panel_stride + lane;
    const float* const kept = saved ? saved.data + p * saved.panel_stride + lane : nullptr;
    each_output(w, dy.rows / w.out_pixels(), [&](int row, const Field& f) HWY_ATTR {
      const F32 g = load(from + row * kPanel);
      const auto part = prepare(p, lane, f, g);
      each_tap(f, [&](int tap, int r) HWY_ATTR {
        float* const at = to + r * kPanel;
        const F32 share = part(tap);
        if (!once) {
          store(load(at) + share, at);
        } else if constexpr (kFunction == Activation::kLinear) {
          store(zero() + share, at);
        } else {
          store(times_derivative<kFunction>(zero() + share, load(kept + r * kPanel)), at);
        }
      });
    });
  });
  if (!once) finish_pool<kFunction>(saved, dx);
}

void max_pool_backward(const Window& w, ConstMatrix x, ConstMatrix dy, Activation f, ConstMatrix saved,
                       Matrix dx) {
  exact::with_activation(f, [&](auto kind) {
    spread<kind()>(w, dy, saved, dx, [&](std::size_t p, int lane, const Field& field, F32 g) HWY_ATTR {
      const float* const from = x.data + p * x.panel_stride + lane;
      const F32 best = largest(field, [&](int r) { return from + r * kPanel; }).tap;
      return [=](int tap) HWY_ATTR {
        const F32 number = broadcast(static_cast<float>(tap));
        return select(less(best, number), zero(), select(less(number, best), zero(), g));
      };
    });
  });
}

void average_pool(const Window& w, ConstMatrix x, Matrix y) {
  each_part(y.columns, [&](std::size_t p, int lane) HWY_ATTR {
    const float* const from = x.data + p * x.panel_stride + lane;
    float* const to = y.data + p * y.panel_stride + lane;
    each_output(w, y.rows / w.out_pixels(), [&](int row, const Field& f) HWY_ATTR {
      F32 sum = zero();
      each_tap(f, [&](int, int r) HWY_ATTR { sum = sum + load(from + r * kPanel); });
      store(sum * broadcast(1.0F / static_cast<float>(f.count())), to + row * kPanel);
    });
  });
}

void average_pool_backward(const Window& w, ConstMatrix dy, Activation f, ConstMatrix saved, Matrix dx) {
  exact::with_activation(f, [&](auto kind) {
    spread<kind()>(w, dy, saved, dx, [](std::size_t, int, const Field& field, F32 g) HWY_ATTR {
      const F32 share = g * broadcast(1.0F / static_cast<float>(field.count()));
      return [=](int) HWY_ATTR { return share; };
    });
  });
}

/// Copies element (row, c) of x to or from (row / pixels, row % pixels * columns + c), in runs that lie in
/// one panel of both.
template <class Copy>
HWY_INLINE void each_run(int pixels, int rows, int columns, const Copy& copy) {
  for (int row = 0; row < rows; ++row) {
    const int sample = row / pixels, first = row % pixels * columns;
    for (int c = 0; c < columns;) {
      const int at = first + c;
      const int run = std::min({columns - c, kPanel - c % kPanel, kPanel - at % kPanel});
      copy(row, c, sample, at, run);
      c += run;
    }
  }
}

void pack_pixels(int pixels, ConstMatrix x, Matrix packed) {
  each_run(pixels, x.rows, x.columns, [&](int row, int c, int sample, int at, int run) {
    std::copy_n(&x.at(row, c), run, &packed.at(sample, at));
  });
}

void unpack_pixels(int pixels, ConstMatrix packed, Activation f, ConstMatrix saved, Matrix x) {
  each_run(pixels, x.rows, x.columns, [&](int row, int c, int sample, int at, int run) {
    std::copy_n(&packed.at(sample, at), run, &x.at(row, c));
  });
  exact::with_activation(f, [&](auto kind) { finish_pool<kind()>(saved, x); });
}

const ImageTable kTable = {&max_pool,    &max_pool_backward, &average_pool, &average_pool_backward,
                           &pack_pixels, &unpack_pixels};

}  // namespace

const ImageTable* image_table() {
  return &kTable;
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mirrorscale::kernels::cpu {
HWY_EXPORT(image_table);
const ImageTable* chosen_image_table() {
  return HWY_DYNAMIC_DISPATCH(image_table)();
}
}  // namespace mirrorscale::kernels::cpu
#endif

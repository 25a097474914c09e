// A convolution as products of patches: each output pixel's window, taps after taps, as a row of a matrix.
#include "scenarios/oracle/activations.h"
#include "scenarios/oracle/layer.h"
#include "scenarios/oracle/products.h"

#include <stdexcept>

namespace mirrorscale::scenarios::oracle {
namespace {

class ConvolutionLayer final : public Layer {
 public:
  explicit ConvolutionLayer(const Convolution& settings) : c_(settings) {
    if (c_.groups == 0 || c_.channels % c_.groups != 0 || c_.filters % c_.groups != 0)
      throw std::invalid_argument("[oracle] groups that don't divide channels and filters");
  }
  std::size_t inputs() const override { return c_.window.in_pixels() * c_.channels; }
  std::size_t outputs() const override { return c_.window.out_pixels() * c_.filters; }
  std::vector<ArraySize> arrays() const override {
    std::vector<ArraySize> sizes{{c_.window.taps() * group_channels(), c_.filters, c_.l1, c_.l2}};
    if (c_.bias) sizes.push_back({1, c_.filters});
    return sizes;
  }
  std::size_t values_a_row() const override {
    return c_.window.taps() *
           (c_.window.out_pixels() * c_.channels + c_.window.in_pixels() * group_filters());
  }

  const Tracked& forward(const Arithmetic& how, const Tracked& x, std::span<const Parameter> p) override {
    z_.resize(x.rows * c_.window.out_pixels(), c_.filters);
    for (std::size_t g = 0; g < c_.groups; ++g) {
      Tracked part;
      multiply(windows(x, g), columns_of(p[0].w, g), how.errors.factors(), how.threads, part);
      put_columns(part, g * group_filters(), z_);
    }
    if (c_.bias) add_bias(p[1].w, z_);
    activate(c_.activation, how.errors, z_, y_);
    shown_ = y_;
    shown_.rows = x.rows;
    shown_.columns = outputs();
    return shown_;
  }

  void backward(const Arithmetic& how, const Tracked& x, const Tracked& dy, std::span<Parameter> p,
                Tracked* dx) override {
    Tracked of_pixels = dy, dz;
    of_pixels.rows = z_.rows;
    of_pixels.columns = c_.filters;
    activate_backward(c_.activation, how.errors, z_, y_, of_pixels, dz);
    const std::size_t chain = how.errors.row_chain * c_.window.out_pixels();
    p[0].gradient.resize(p[0].w.rows, p[0].w.columns);
    if (dx != nullptr) dx->resize(x.rows * c_.window.in_pixels(), c_.channels);
    for (std::size_t g = 0; g < c_.groups; ++g) {
      const Tracked dz_part = columns_of(dz, g);
      Tracked part;
      multiply_rows(windows(x, g), dz_part, chain, how.errors.factors(), how.threads, part);
      put_columns(part, g * group_filters(), p[0].gradient);
      if (dx == nullptr) continue;
      multiply(reached(dz_part, x.rows), turned(columns_of(p[0].w, g)), how.errors.factors(), how.threads,
               part);
      put_columns(part, g * group_channels(), *dx);
    }
    if (c_.bias) sum_rows(how, dz, chain, p[1].gradient);
    if (dx == nullptr) return;
    dx->rows = x.rows;
    dx->columns = inputs();
  }

 private:
  std::size_t group_channels() const { return c_.channels / c_.groups; }
  std::size_t group_filters() const { return c_.filters / c_.groups; }

  Tracked columns_of(const Tracked& all, std::size_t group) const {
    if (c_.groups == 1) return all;
    Tracked part;
    part.resize(all.rows, group_filters());
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::size_t at = i / part.columns * all.columns + group * group_filters() + i % part.columns;
      part.value[i] = all.value[at];
      part.scale[i] = all.scale[at];
    }
    return part;
  }
  static void put_columns(const Tracked& part, std::size_t first, Tracked& all) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::size_t at = i / part.columns * all.columns + first + i % part.columns;
      all.value[at] = part.value[i];
      all.scale[at] = part.scale[i];
    }
  }

  /// A row for each output pixel: what its window sees of the group's channels, 0 where that is padding.
  Tracked windows(const Tracked& x, std::size_t group) const {
    const Window& w = c_.window;
    const std::size_t pixels = w.out_pixels(), depth = group_channels();
    Tracked rows;
    rows.resize(x.rows * pixels, w.taps() * depth);
    for (std::size_t r = 0; r < rows.rows; ++r) {
      for (std::size_t tap = 0; tap < w.taps(); ++tap) {
        const long source = w.source(r % pixels, tap);
        for (std::size_t c = 0; c < depth; ++c) {
          const std::size_t to = r * rows.columns + tap * depth + c;
          if (source < 0) {
            rows.value[to] = rows.scale[to] = 0;
            continue;
          }
          const std::size_t from =
              r / pixels * x.columns + static_cast<std::size_t>(source) * c_.channels + group * depth + c;
          rows.value[to] = x.value[from];
          rows.scale[to] = x.scale[from];
        }
      }
    }
    return rows;
  }

  /// A row for each input pixel: the gradients of the outputs that see it through each tap, or 0.
  Tracked reached(const Tracked& dz, std::size_t samples) const {
    const Window& w = c_.window;
    Tracked rows;
    rows.resize(samples * w.in_pixels(), w.taps() * dz.columns);
    std::fill(rows.value.begin(), rows.value.end(), 0.0);
    std::fill(rows.scale.begin(), rows.scale.end(), 0.0);
    for (std::size_t r = 0; r < dz.rows; ++r) {
      for (std::size_t tap = 0; tap < w.taps(); ++tap) {
        const long source = w.source(r % w.out_pixels(), tap);
        if (source < 0) continue;
        const std::size_t row = r / w.out_pixels() * w.in_pixels() + static_cast<std::size_t>(source);
        for (std::size_t f = 0; f < dz.columns; ++f) {
          rows.value[row * rows.columns + tap * dz.columns + f] = dz.value[r * dz.columns + f];
          rows.scale[row * rows.columns + tap * dz.columns + f] = dz.scale[r * dz.columns + f];
        }
      }
    }
    return rows;
  }

  /// [taps * channels, filters] as [taps * filters, channels].
  Tracked turned(const Tracked& w) const {
    const std::size_t depth = group_channels();
    Tracked t;
    t.resize(c_.window.taps() * w.columns, depth);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const std::size_t tap = i / w.columns / depth, channel = i / w.columns % depth, f = i % w.columns;
      t.value[(tap * w.columns + f) * depth + channel] = w.value[i];
      t.scale[(tap * w.columns + f) * depth + channel] = w.scale[i];
    }
    return t;
  }

  const Convolution c_;
  Tracked z_, y_;  // a row a pixel
  Tracked shown_;  // y_, a row a sample
};

}  // namespace

std::unique_ptr<Layer> make_layer(const Convolution& convolution) {
  return std::make_unique<ConvolutionLayer>(convolution);
}

}  // namespace mirrorscale::scenarios::oracle

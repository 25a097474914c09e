#include "scenarios/oracle/layer.h"

#include <algorithm>
#include <cmath>

namespace mirrorscale::scenarios::oracle {
namespace {

/// The inputs of one output.
using Field = std::vector<std::size_t>;

class PoolLayer final : public Layer {
 public:
  explicit PoolLayer(const Pool& settings) : pool_(settings) {}
  std::size_t inputs() const override { return pool_.window.in_pixels() * pool_.channels; }
  std::size_t outputs() const override { return pool_.window.out_pixels() * pool_.channels; }

  const Tracked& forward(const Arithmetic&, const Tracked& x, std::span<const Parameter>) override {
    y_.resize(x.rows, outputs());
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const Field field = field_of(i);
      const auto [value, scale] = pool_.maximum ? largest(x, field) : mean(x, field);
      y_.value[i] = value;
      y_.scale[i] = scale;
    }
    return y_;
  }

  void backward(const Arithmetic& how, const Tracked& x, const Tracked& dy, std::span<Parameter>,
                Tracked* dx) override {
    if (dx == nullptr) return;
    dx->resize(x.rows, inputs());
    std::fill(dx->value.begin(), dx->value.end(), 0.0);
    std::fill(dx->scale.begin(), dx->scale.end(), 0.0);
    for (std::size_t i = 0; i < dy.size(); ++i) {
      const Field field = field_of(i);
      if (pool_.maximum) {
        spread_to_largest(how.errors, x, field, dy.value[i], dy.scale[i], *dx);
        continue;
      }
      const auto count = static_cast<double>(field.size());
      for (const std::size_t at : field)
        add(dy.value[i] / count, dy.scale[i] / count + 2 * std::fabs(dy.value[i]) / count, at, *dx);
    }
  }

 private:
  struct Element {
    double value = 0, scale = 0;
  };

  Field field_of(std::size_t output) const {
    const Window& w = pool_.window;
    const std::size_t sample = output / outputs(), pixel = output % outputs() / pool_.channels;
    Field field;
    for (std::size_t tap = 0; tap < w.taps(); ++tap) {
      const long source = w.source(pixel, tap);
      if (source < 0) continue;
      field.push_back(sample * inputs() + static_cast<std::size_t>(source) * pool_.channels +
                      output % pool_.channels);
    }
    return field;
  }

  /// The float32 run's maximum is off by no more than its elements are.
  static Element largest(const Tracked& x, const Field& field) {
    Element most{x.value[field.front()], 0};
    for (const std::size_t at : field) {
      most.value = std::max(most.value, x.value[at]);
      most.scale = std::max(most.scale, x.scale[at]);
    }
    return most;
  }
  static Element mean(const Tracked& x, const Field& field) {
    double sum = 0, chain = 0, shared = 0;
    for (const std::size_t at : field) {
      sum += x.value[at];
      chain += sum * sum;
      shared += x.scale[at];
    }
    const auto count = static_cast<double>(field.size());
    return {sum / count, (shared + std::sqrt(chain) + 2 * std::fabs(sum)) / count};
  }

  static void add(double value, double scale, std::size_t at, Tracked& to) {
    to.value[at] += value;
    to.scale[at] += scale + (to.value[at] == value ? 0 : std::fabs(to.value[at]));
  }

  /// The first of the largest gets it. Where another one is within its error of the largest, the float32 run
  /// may give it to that one; but equal numbers of equal error come from equal operations, and are equal
  /// there too.
  static void spread_to_largest(const ErrorModel& errors, const Tracked& x, const Field& field, double dy,
                                double dy_scale, Tracked& dx) {
    const std::size_t best = *std::max_element(
        field.begin(), field.end(), [&](std::size_t a, std::size_t b) { return x.value[a] < x.value[b]; });
    bool doubtful = false;
    for (const std::size_t at : field) {
      const double scale = x.scale[at] + x.scale[best];
      const bool same = x.value[at] == x.value[best] && x.scale[at] == x.scale[best];
      if (at == best || same || x.value[best] - x.value[at] > errors.bound_of(scale)) continue;
      doubtful = true;
      dx.scale[at] += dy_scale + errors.scale_of(std::fabs(dy));
    }
    add(dy, dy_scale + (doubtful ? errors.scale_of(std::fabs(dy)) : 0), best, dx);
  }

  const Pool pool_;
  Tracked y_;
};

}  // namespace

std::unique_ptr<Layer> make_layer(const Pool& pool) {
  return std::make_unique<PoolLayer>(pool);
}

}  // namespace mirrorscale::scenarios::oracle

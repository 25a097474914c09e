#include "scenarios/oracle/sequence.h"

#include <cmath>

namespace mirrorscale::scenarios::oracle {
namespace {

/// A mean over columns: its value, the shared error of what is added, and that of adding it up in 16 chains
/// and a tree (partial sums are at most the sum of magnitudes).
struct Mean {
  double value = 0, shared = 0, magnitude = 0;
  std::size_t count = 0;

  void add(double v, double scale) {
    value += v;
    shared += scale;
    magnitude += std::fabs(v);
    ++count;
  }
  double mean() const { return value / static_cast<double>(count); }
  double scale() const {
    const auto n = static_cast<double>(count);
    return (shared + std::sqrt(n / 16 + 6) * magnitude) / n + std::fabs(mean());
  }
};

class LayerNorm final : public Layer {
 public:
  LayerNorm(std::size_t columns, double epsilon) : columns_(columns), epsilon_(epsilon) {}
  std::size_t inputs() const override { return columns_; }
  std::size_t outputs() const override { return columns_; }
  std::vector<ArraySize> arrays() const override { return {{1, columns_}, {1, columns_}}; }

  const Tracked& forward(const Arithmetic&, const Tracked& x, std::span<const Parameter> p) override {
    y_.resize(x.rows, columns_);
    h_.resize(x.rows, columns_);
    inverse_.resize(x.rows, 1);
    const Tracked &gamma = p[0].w, &beta = p[1].w;
    for (std::size_t r = 0; r < x.rows; ++r) {
      Mean mean, variance;
      for (std::size_t i = r * columns_; i < (r + 1) * columns_; ++i) mean.add(x.value[i], x.scale[i]);
      const auto distance = [&](std::size_t i) { return x.value[i] - mean.mean(); };
      const auto distance_scale = [&](std::size_t i) {
        return x.scale[i] + mean.scale() + std::fabs(distance(i));
      };
      for (std::size_t i = r * columns_; i < (r + 1) * columns_; ++i) {
        variance.add(distance(i) * distance(i), 2 * std::fabs(distance(i)) * distance_scale(i));
      }
      const double inverse = 1 / std::sqrt(variance.mean() + epsilon_);
      inverse_.value[r] = inverse;
      inverse_.scale[r] = inverse * inverse * inverse * variance.scale() / 2 + 3 * inverse;
      for (std::size_t c = 0, i = r * columns_; c < columns_; ++c, ++i) {
        h_.value[i] = distance(i) * inverse;
        h_.scale[i] =
            distance_scale(i) * inverse + std::fabs(distance(i)) * inverse_.scale[r] + std::fabs(h_.value[i]);
        y_.value[i] = h_.value[i] * gamma.value[c] + beta.value[c];
        y_.scale[i] = h_.scale[i] * std::fabs(gamma.value[c]) + std::fabs(h_.value[i]) * gamma.scale[c] +
                      beta.scale[c] + std::fabs(y_.value[i]);
      }
    }
    return y_;
  }

  void backward(const Arithmetic& how, const Tracked& x, const Tracked& dy, std::span<Parameter> p,
                Tracked* dx) override {
    const Tracked& gamma = p[0].w;
    Tracked products = dy, weighted = dy;
    for (std::size_t i = 0; i < dy.size(); ++i) {
      const std::size_t c = i % columns_;
      products.value[i] = dy.value[i] * h_.value[i];
      products.scale[i] = std::fabs(dy.value[i]) * h_.scale[i] + std::fabs(h_.value[i]) * dy.scale[i] +
                          std::fabs(products.value[i]);
      weighted.value[i] = dy.value[i] * gamma.value[c];
      weighted.scale[i] = std::fabs(gamma.value[c]) * dy.scale[i] + std::fabs(dy.value[i]) * gamma.scale[c] +
                          std::fabs(weighted.value[i]);
    }
    sum_rows(how, products, how.errors.row_chain, p[0].gradient);
    sum_rows(how, dy, how.errors.row_chain, p[1].gradient);
    if (dx == nullptr) return;
    dx->resize(x.rows, columns_);
    for (std::size_t r = 0; r < x.rows; ++r) {
      Mean direct, along;
      for (std::size_t i = r * columns_; i < (r + 1) * columns_; ++i) {
        direct.add(weighted.value[i], weighted.scale[i]);
        along.add(weighted.value[i] * h_.value[i],
                  std::fabs(weighted.value[i]) * h_.scale[i] + std::fabs(h_.value[i]) * weighted.scale[i]);
      }
      const double a = direct.mean(), b = along.mean();
      for (std::size_t i = r * columns_; i < (r + 1) * columns_; ++i) {
        const double h = h_.value[i], pull = h * b + a, rest = weighted.value[i] - pull;
        const double scale = weighted.scale[i] + direct.scale() + std::fabs(h) * along.scale() +
                             std::fabs(b) * h_.scale[i] + std::fabs(pull) + std::fabs(rest);
        dx->value[i] = inverse_.value[r] * rest;
        dx->scale[i] =
            inverse_.value[r] * scale + inverse_.scale[r] * std::fabs(rest) + std::fabs(dx->value[i]);
      }
    }
  }

 private:
  const std::size_t columns_;
  const double epsilon_;
  Tracked h_, inverse_, y_;  // normalised x, 1 / deviation
};

}  // namespace

LayerPtr layer_norm(std::size_t columns, double epsilon) {
  return std::make_unique<LayerNorm>(columns, epsilon);
}

}  // namespace mirrorscale::scenarios::oracle

#include "scenarios/oracle/activations.h"
#include "scenarios/oracle/sequence.h"

#include <algorithm>
#include <cmath>

namespace mirrorscale::scenarios::oracle {
namespace {

/// A sum of products in one chain. Errors of a row's own channels are independent, those of several positions
/// come from the same weights and may agree.
enum class Along { kChannels, kPositions };
template <Along kAlong>
struct Chain {
  double value = 0, squares = 0, shared = 0;

  void add(double a, double a_scale, double b, double b_scale) {
    value += a * b;
    squares += value * value;
    if constexpr (kAlong == Along::kChannels) {
      squares += a * a * b_scale * b_scale + b * b * a_scale * a_scale;
    } else {
      shared += std::fabs(a) * b_scale + std::fabs(b) * a_scale;
    }
  }
  double scale() const { return shared + std::sqrt(squares); }
};
using OverChannels = Chain<Along::kChannels>;
using OverPositions = Chain<Along::kPositions>;

class Attention final : public Layer {
 public:
  explicit Attention(const AttentionSettings& settings)
      : s_(settings),
        width_(s_.heads * s_.size),
        factor_(s_.factor != 0 ? s_.factor : 1 / std::sqrt(static_cast<double>(s_.size))) {}
  std::size_t inputs() const override { return 3 * outputs(); }
  std::size_t outputs() const override { return s_.positions * width_; }
  std::size_t values_a_row() const override {
    return inputs() + outputs() + s_.heads * s_.positions * s_.positions;
  }

  const Tracked& forward(const Arithmetic& how, const Tracked& x, std::span<const Parameter>) override {
    y_.resize(x.rows, outputs());
    p_.resize(x.rows * s_.heads * s_.positions, s_.positions);
    std::fill(p_.value.begin(), p_.value.end(), 0.0);
    std::fill(p_.scale.begin(), p_.scale.end(), 0.0);
    std::vector<double> z(s_.positions), z_scale(s_.positions), shift(s_.positions);
    each([&](std::size_t sample, std::size_t head, std::size_t t) {
      const std::size_t seen = end(t), row = row_of(sample, head, t);
      for (std::size_t u = 0; u < seen; ++u) {
        OverChannels sum;
        for (std::size_t d = 0; d < s_.size; ++d) {
          const std::size_t q = in(sample, t, 0, head, d), k = in(sample, u, 1, head, d);
          sum.add(x.value[q], x.scale[q], x.value[k], x.scale[k]);
        }
        z[u] = factor_ * sum.value;
        z_scale[u] = factor_ * sum.scale() + 2 * std::fabs(z[u]);
      }
      softmax_row(how.errors, std::span(z).first(seen), std::span(z_scale).first(seen),
                  std::span(p_.value).subspan(row * s_.positions, seen),
                  std::span(p_.scale).subspan(row * s_.positions, seen), std::span(shift).first(seen));
      for (std::size_t d = 0; d < s_.size; ++d) {
        OverPositions sum;
        for (std::size_t u = 0; u < seen; ++u) {
          const std::size_t p = row * s_.positions + u, v = in(sample, u, 2, head, d);
          sum.add(p_.value[p], p_.scale[p], x.value[v], x.scale[v]);
        }
        const std::size_t at = out(sample, t, head, d);
        y_.value[at] = sum.value;
        y_.scale[at] = sum.scale() + std::fabs(sum.value);
      }
    });
    return y_;
  }

  void backward(const Arithmetic&, const Tracked& x, const Tracked& dy, std::span<Parameter>,
                Tracked* dx) override {
    if (dx == nullptr) return;
    Tracked dz = p_;
    each([&](std::size_t sample, std::size_t head, std::size_t t) {
      OverChannels dot;
      for (std::size_t d = 0; d < s_.size; ++d) {
        const std::size_t at = out(sample, t, head, d);
        dot.add(dy.value[at], dy.scale[at], y_.value[at], y_.scale[at]);
      }
      for (std::size_t u = 0; u < end(t); ++u) {
        OverChannels sum;
        for (std::size_t d = 0; d < s_.size; ++d) {
          const std::size_t at = out(sample, t, head, d), v = in(sample, u, 2, head, d);
          sum.add(dy.value[at], dy.scale[at], x.value[v], x.scale[v]);
        }
        const std::size_t i = row_of(sample, head, t) * s_.positions + u;
        const double rest = sum.value - dot.value;
        dz.value[i] = p_.value[i] * rest;
        dz.scale[i] = p_.scale[i] * std::fabs(rest) + p_.value[i] * (sum.scale() + dot.scale()) +
                      2 * std::fabs(dz.value[i]);
      }
    });
    dx->resize(x.rows, inputs());
    each([&](std::size_t sample, std::size_t head, std::size_t t) {
      for (std::size_t d = 0; d < s_.size; ++d) {
        OverPositions query, key, value;
        for (std::size_t u = 0; u < end(t); ++u) {
          const std::size_t i = row_of(sample, head, t) * s_.positions + u, k = in(sample, u, 1, head, d);
          query.add(dz.value[i], dz.scale[i], x.value[k], x.scale[k]);
        }
        for (std::size_t s = s_.causal ? t : 0; s < s_.positions; ++s) {
          const std::size_t i = row_of(sample, head, s) * s_.positions + t, q = in(sample, s, 0, head, d),
                            g = out(sample, s, head, d);
          key.add(dz.value[i], dz.scale[i], x.value[q], x.scale[q]);
          value.add(p_.value[i], p_.scale[i], dy.value[g], dy.scale[g]);
        }
        const auto put = [&](std::size_t part, const OverPositions& sum, double factor) {
          const std::size_t at = in(sample, t, part, head, d);
          dx->value[at] = factor * sum.value;
          dx->scale[at] = factor * sum.scale() + 2 * std::fabs(dx->value[at]);
        };
        put(0, query, factor_);
        put(1, key, factor_);
        put(2, value, 1);
      }
    });
  }

 private:
  template <class Body>
  void each(const Body& body) const {
    for (std::size_t sample = 0; sample < y_.rows; ++sample) {
      for (std::size_t head = 0; head < s_.heads; ++head) {
        for (std::size_t t = 0; t < s_.positions; ++t) body(sample, head, t);
      }
    }
  }
  std::size_t end(std::size_t t) const { return s_.causal ? t + 1 : s_.positions; }
  std::size_t row_of(std::size_t sample, std::size_t head, std::size_t t) const {
    return (sample * s_.heads + head) * s_.positions + t;
  }
  /// part 0: queries, 1: keys, 2: values.
  std::size_t in(std::size_t sample, std::size_t t, std::size_t part, std::size_t head, std::size_t d) const {
    return ((sample * s_.positions + t) * 3 + part) * width_ + head * s_.size + d;
  }
  std::size_t out(std::size_t sample, std::size_t t, std::size_t head, std::size_t d) const {
    return (sample * s_.positions + t) * width_ + head * s_.size + d;
  }

  const AttentionSettings s_;
  const std::size_t width_;
  const double factor_;
  Tracked p_, y_;  // p: [samples * heads * positions, positions]
};

}  // namespace

LayerPtr self_attention(const AttentionSettings& settings) {
  return std::make_unique<Attention>(settings);
}

}  // namespace mirrorscale::scenarios::oracle

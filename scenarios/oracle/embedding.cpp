#include "scenarios/oracle/sequence.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace mirrorscale::scenarios::oracle {
namespace {

class Embedding final : public Layer {
 public:
  Embedding(std::size_t tokens, std::size_t width, std::size_t time)
      : tokens_(tokens), width_(width), time_(time) {}
  std::size_t inputs() const override { return time_; }
  std::size_t outputs() const override { return time_ * width_; }
  std::vector<ArraySize> arrays() const override { return {{tokens_, width_}}; }

  const Tracked& forward(const Arithmetic&, const Tracked& x, std::span<const Parameter> p) override {
    y_.resize(x.rows, outputs());
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const std::size_t from = token(x, i / width_) * width_ + i % width_;
      y_.value[i] = p[0].w.value[from];
      y_.scale[i] = p[0].w.scale[from];
    }
    return y_;
  }
  void backward(const Arithmetic&, const Tracked& x, const Tracked& dy, std::span<Parameter> p,
                Tracked*) override {
    Tracked& sums = p[0].gradient;
    sums.resize(tokens_, width_);
    std::fill(sums.value.begin(), sums.value.end(), 0.0);
    std::fill(sums.scale.begin(), sums.scale.end(), 0.0);
    std::vector<double> magnitude(sums.size()), count(sums.size());
    for (std::size_t i = 0; i < dy.size(); ++i) {
      const std::size_t to = token(x, i / width_) * width_ + i % width_;
      sums.value[to] += dy.value[i];
      sums.scale[to] += dy.scale[i];
      magnitude[to] += std::fabs(dy.value[i]);
      ++count[to];
    }
    // In whatever order they are added, partial sums are at most the sum of magnitudes.
    for (std::size_t i = 0; i < sums.size(); ++i) sums.scale[i] += std::sqrt(count[i]) * magnitude[i];
  }

 private:
  std::size_t token(const Tracked& x, std::size_t at) const {
    const double value = x.value[at];
    if (!(value >= 0 && value < static_cast<double>(tokens_)) || value != std::floor(value))
      throw std::invalid_argument("[oracle] token " + std::to_string(value) + " of " +
                                  std::to_string(tokens_));
    return static_cast<std::size_t>(value);
  }

  const std::size_t tokens_, width_, time_;
  Tracked y_;
};

class PositionEmbedding final : public Layer {
 public:
  PositionEmbedding(std::size_t time, std::size_t width) : time_(time), width_(width) {}
  std::size_t inputs() const override { return time_ * width_; }
  std::size_t outputs() const override { return time_ * width_; }
  std::vector<ArraySize> arrays() const override { return {{time_, width_}}; }

  const Tracked& forward(const Arithmetic&, const Tracked& x, std::span<const Parameter> p) override {
    y_ = x;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      y_.value[i] += p[0].w.value[i % outputs()];
      y_.scale[i] += p[0].w.scale[i % outputs()] + std::fabs(y_.value[i]);
    }
    return y_;
  }
  void backward(const Arithmetic& how, const Tracked&, const Tracked& dy, std::span<Parameter> p,
                Tracked* dx) override {
    sum_rows(how, dy, how.errors.row_chain, p[0].gradient);
    p[0].gradient.rows = time_;
    p[0].gradient.columns = width_;
    if (dx != nullptr) *dx = dy;
  }

 private:
  const std::size_t time_, width_;
  Tracked y_;
};

}  // namespace

LayerPtr embedding(std::size_t tokens, std::size_t width, std::size_t time) {
  return std::make_unique<Embedding>(tokens, width, time);
}
LayerPtr position_embedding(std::size_t time, std::size_t width) {
  return std::make_unique<PositionEmbedding>(time, width);
}

}  // namespace mirrorscale::scenarios::oracle

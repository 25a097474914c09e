// Layers made of layers.
#include "scenarios/oracle/activations.h"
#include "scenarios/oracle/sequence.h"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace mirrorscale::scenarios::oracle {
namespace {

/// The same numbers in other rows.
Tracked reshaped(const Tracked& from, std::size_t rows, std::size_t columns) {
  Tracked to = from;
  to.rows = rows;
  to.columns = columns;
  return to;
}

class AtPositions final : public Layer {
 public:
  AtPositions(std::size_t positions, LayerPtr layer) : positions_(positions), layer_(std::move(layer)) {}
  std::size_t inputs() const override { return positions_ * layer_->inputs(); }
  std::size_t outputs() const override { return positions_ * layer_->outputs(); }
  std::vector<ArraySize> arrays() const override { return layer_->arrays(); }
  std::size_t values_a_row() const override { return positions_ * layer_->values_a_row(); }

  const Tracked& forward(const Arithmetic& how, const Tracked& x, std::span<const Parameter> p) override {
    const std::size_t rows = x.rows * positions_;
    y_ = reshaped(layer_->forward(how, reshaped(x, rows, layer_->inputs()), p), x.rows, outputs());
    return y_;
  }
  void backward(const Arithmetic& how, const Tracked& x, const Tracked& dy, std::span<Parameter> p,
                Tracked* dx) override {
    const std::size_t rows = x.rows * positions_;
    Arithmetic longer = how;
    longer.errors.row_chain *= positions_;
    layer_->backward(longer, reshaped(x, rows, layer_->inputs()), reshaped(dy, rows, layer_->outputs()), p,
                     dx);
    if (dx != nullptr) *dx = reshaped(*dx, x.rows, inputs());
  }

 private:
  const std::size_t positions_;
  const LayerPtr layer_;
  Tracked y_;
};

class Stack final : public Layer {
 public:
  explicit Stack(std::vector<LayerPtr> layers) : layers_(std::move(layers)) {
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i) {
      if (layers_[i]->outputs() != layers_[i + 1]->inputs())
        throw std::invalid_argument("[oracle] the layers of a stack don't fit each other");
    }
  }
  std::size_t inputs() const override { return layers_.front()->inputs(); }
  std::size_t outputs() const override { return layers_.back()->outputs(); }
  std::vector<ArraySize> arrays() const override {
    std::vector<ArraySize> all;
    for (const LayerPtr& layer : layers_) {
      for (const ArraySize& size : layer->arrays()) all.push_back(size);
    }
    return all;
  }
  std::size_t values_a_row() const override {
    std::size_t sum = 0;
    for (const LayerPtr& layer : layers_) sum += layer->values_a_row();
    return sum;
  }

  const Tracked& forward(const Arithmetic& how, const Tracked& x, std::span<const Parameter> p) override {
    inputs_.clear();
    const Tracked* at = &x;
    for (std::size_t i = 0, first = 0; i < layers_.size(); ++i) {
      const std::size_t count = layers_[i]->arrays().size();
      inputs_.push_back(at);
      at = &layers_[i]->forward(how, *at, p.subspan(first, count));
      first += count;
    }
    return *at;
  }
  void backward(const Arithmetic& how, const Tracked& x, const Tracked& dy, std::span<Parameter> p,
                Tracked* dx) override {
    Tracked gradient = dy;
    std::size_t end = p.size();
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const std::size_t count = layers_[i]->arrays().size();
      Tracked before;
      layers_[i]->backward(how, i == 0 ? x : *inputs_[i], gradient, p.subspan(end - count, count),
                           i == 0 && dx == nullptr ? nullptr : &before);
      end -= count;
      gradient = std::move(before);
    }
    if (dx != nullptr) *dx = std::move(gradient);
  }

 private:
  const std::vector<LayerPtr> layers_;
  std::vector<const Tracked*> inputs_;  // of each, in the last forward
};

/// a + b, of errors that may agree.
Tracked sum_of(const Tracked& a, const Tracked& b) {
  Tracked sum = a;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum.value[i] += b.value[i];
    sum.scale[i] += b.scale[i] + std::fabs(sum.value[i]);
  }
  return sum;
}

class ResidualLayer final : public Layer {
 public:
  ResidualLayer(LayerPtr branch, LayerPtr shortcut, Activation f)
      : branch_(std::move(branch)),
        shortcut_(std::move(shortcut)),
        f_(f),
        branch_arrays_(branch_->arrays().size()) {}
  std::size_t inputs() const override { return branch_->inputs(); }
  std::size_t outputs() const override { return branch_->outputs(); }
  std::vector<ArraySize> arrays() const override {
    std::vector<ArraySize> all = branch_->arrays();
    if (shortcut_) {
      for (const ArraySize& size : shortcut_->arrays()) all.push_back(size);
    }
    return all;
  }
  std::size_t values_a_row() const override {
    return branch_->values_a_row() + (shortcut_ ? shortcut_->values_a_row() : 0);
  }

  const Tracked& forward(const Arithmetic& how, const Tracked& x, std::span<const Parameter> p) override {
    const Tracked& branch = branch_->forward(how, x, p.first(branch_arrays_));
    z_ = sum_of(branch, shortcut_ ? shortcut_->forward(how, x, p.subspan(branch_arrays_)) : x);
    activate(f_, how.errors, z_, y_);
    return y_;
  }
  void backward(const Arithmetic& how, const Tracked& x, const Tracked& dy, std::span<Parameter> p,
                Tracked* dx) override {
    Tracked dz, of_branch, of_shortcut;
    activate_backward(f_, how.errors, z_, y_, dy, dz);
    branch_->backward(how, x, dz, p.first(branch_arrays_), dx == nullptr ? nullptr : &of_branch);
    if (shortcut_) {
      shortcut_->backward(how, x, dz, p.subspan(branch_arrays_), dx == nullptr ? nullptr : &of_shortcut);
    }
    if (dx != nullptr) *dx = sum_of(of_branch, shortcut_ ? of_shortcut : dz);
  }

 private:
  const LayerPtr branch_, shortcut_;
  const Activation f_;
  const std::size_t branch_arrays_;
  Tracked z_, y_;
};

}  // namespace

LayerPtr at_positions(std::size_t positions, LayerPtr layer) {
  if (positions == 1) return layer;
  return std::make_unique<AtPositions>(positions, std::move(layer));
}
LayerPtr stack(std::vector<LayerPtr> layers) {
  if (layers.empty()) return nullptr;
  return std::make_unique<Stack>(std::move(layers));
}
LayerPtr residual(LayerPtr branch, LayerPtr shortcut, Activation f) {
  return std::make_unique<ResidualLayer>(std::move(branch), std::move(shortcut), f);
}

}  // namespace mirrorscale::scenarios::oracle

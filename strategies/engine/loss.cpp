#include "strategies/engine/loss.h"

#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

using kernels::Backend;
using kernels::Column;
using kernels::ConstMatrix;
using kernels::Matrix;

void check_targets(const std::string& loss, int outputs, const TargetShape& shape) {
  if (shape.target_columns == outputs) return;
  if (shape.target_columns == 0) {
    throw std::invalid_argument("[loss] " + loss +
                                " needs numeric targets, but the data set has class labels; use "
                                "sparse_categorical_crossentropy");
  }
  throw std::invalid_argument("[loss] " + loss + ": the model predicts " + std::to_string(outputs) +
                              " columns and the targets have " + std::to_string(shape.target_columns) +
                              "; the last layer needs as many units as there are target columns");
}

class SparseCategorical final : public Loss {
 public:
  explicit SparseCategorical(Prediction input) : input_(input) {}
  std::string name() const override {
    return input_ == Prediction::kLogits ? "sparse_categorical_crossentropy_from_logits"
                                         : "sparse_categorical_crossentropy";
  }
  void check(int outputs, const TargetShape& shape) const override {
    if (shape.classes == 0) {
      throw std::invalid_argument("[loss] " + name() +
                                  " needs class labels, but the data set has numeric targets; use "
                                  "mse, mae or binary_crossentropy");
    }
    if (outputs < shape.classes) {
      throw std::invalid_argument("[loss] " + name() + ": the model predicts " + std::to_string(outputs) +
                                  " classes and the labels have " + std::to_string(shape.classes) +
                                  "; the last layer needs at least as many units as there are classes");
    }
  }
  void compute(Backend& backend, ConstMatrix y, const Targets& t, Matrix gradient,
               Column loss) const override {
    if (input_ == Prediction::kLogits) {
      backend.softmax_cross_entropy(y, t.labels, t.weights, gradient, loss);
    } else {
      backend.sparse_cross_entropy(y, t.labels, t.weights, gradient, loss);
    }
  }

 private:
  const Prediction input_;
};

class Binary final : public Loss {
 public:
  explicit Binary(Prediction input) : input_(input) {}
  std::string name() const override {
    return input_ == Prediction::kLogits ? "binary_crossentropy_from_logits" : "binary_crossentropy";
  }
  void check(int outputs, const TargetShape& shape) const override { check_targets(name(), outputs, shape); }
  void compute(Backend& backend, ConstMatrix y, const Targets& t, Matrix gradient,
               Column loss) const override {
    if (input_ == Prediction::kLogits) {
      backend.binary_cross_entropy_from_logits(y, t.values, t.weights, gradient, loss);
    } else {
      backend.binary_cross_entropy(y, t.values, t.weights, gradient, loss);
    }
  }
  float binary_threshold() const override { return input_ == Prediction::kLogits ? 0.0F : 0.5F; }

 private:
  const Prediction input_;
};

class SquaredError final : public Loss {
 public:
  std::string name() const override { return "mean_squared_error"; }
  void check(int outputs, const TargetShape& shape) const override { check_targets(name(), outputs, shape); }
  void compute(Backend& backend, ConstMatrix y, const Targets& t, Matrix gradient,
               Column loss) const override {
    backend.mean_squared_error(y, t.values, t.weights, gradient, loss);
  }
};

class AbsoluteError final : public Loss {
 public:
  std::string name() const override { return "mean_absolute_error"; }
  void check(int outputs, const TargetShape& shape) const override { check_targets(name(), outputs, shape); }
  void compute(Backend& backend, ConstMatrix y, const Targets& t, Matrix gradient,
               Column loss) const override {
    backend.mean_absolute_error(y, t.values, t.weights, gradient, loss);
  }
};

}  // namespace

LossPtr sparse_categorical_crossentropy(Prediction input) {
  return std::make_shared<SparseCategorical>(input);
}
LossPtr binary_crossentropy(Prediction input) {
  return std::make_shared<Binary>(input);
}
LossPtr mean_squared_error() {
  return std::make_shared<SquaredError>();
}
LossPtr mean_absolute_error() {
  return std::make_shared<AbsoluteError>();
}

LossPtr make_loss(std::string_view name) {
  if (name == "sparse_categorical_crossentropy") return sparse_categorical_crossentropy();
  if (name == "sparse_categorical_crossentropy_from_logits")
    return sparse_categorical_crossentropy(Prediction::kLogits);
  if (name == "binary_crossentropy") return binary_crossentropy();
  if (name == "binary_crossentropy_from_logits") return binary_crossentropy(Prediction::kLogits);
  if (name == "mse" || name == "mean_squared_error") return mean_squared_error();
  if (name == "mae" || name == "mean_absolute_error") return mean_absolute_error();
  throw std::invalid_argument("[loss] '" + std::string(name) +
                              "' is not known; there are: sparse_categorical_crossentropy[_from_logits], "
                              "binary_crossentropy[_from_logits], mse, mae");
}

}  // namespace mirrorscale::strategies

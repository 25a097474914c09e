#include "strategies/engine/loss.h"

#include <array>
#include <charconv>
#include <stdexcept>
#include <string>
#include <utility>

namespace mirrorscale::strategies {
namespace {

using kernels::Backend;
using kernels::Column;
using kernels::ConstMatrix;
using kernels::Matrix;

constexpr std::string_view kSmoothing = ":label_smoothing=";

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

/// What distinguishes two cross-entropies of a kind.
struct Variant {
  Variant(std::string_view kind, Prediction from, double label_smoothing)
      : input(from), smoothing(static_cast<float>(label_smoothing)), name(kind) {
    if (!(label_smoothing >= 0 && label_smoothing < 1)) {
      throw std::invalid_argument("[loss] label_smoothing is " + std::to_string(label_smoothing) +
                                  "; needs a number from 0 up to, but not, 1");
    }
    if (input == Prediction::kLogits) name += "_from_logits";
    if (smoothing == 0) return;
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), smoothing).ptr;
    name += std::string(kSmoothing) + std::string(digits.data(), end);
  }
  Prediction input;
  float smoothing;
  std::string name;
};

class SparseCategorical final : public Loss {
 public:
  explicit SparseCategorical(Variant variant) : variant_(std::move(variant)) {}
  std::string name() const override { return variant_.name; }
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
    if (variant_.input == Prediction::kLogits) {
      backend.softmax_cross_entropy(y, t.labels, t.weights, variant_.smoothing, gradient, loss);
    } else {
      backend.sparse_cross_entropy(y, t.labels, t.weights, variant_.smoothing, gradient, loss);
    }
  }

 private:
  const Variant variant_;
};

class Binary final : public Loss {
 public:
  explicit Binary(Variant variant) : variant_(std::move(variant)) {}
  std::string name() const override { return variant_.name; }
  void check(int outputs, const TargetShape& shape) const override { check_targets(name(), outputs, shape); }
  void compute(Backend& backend, ConstMatrix y, const Targets& t, Matrix gradient,
               Column loss) const override {
    if (variant_.input == Prediction::kLogits) {
      backend.binary_cross_entropy_from_logits(y, t.values, t.weights, variant_.smoothing, gradient, loss);
    } else {
      backend.binary_cross_entropy(y, t.values, t.weights, variant_.smoothing, gradient, loss);
    }
  }
  float binary_threshold() const override { return variant_.input == Prediction::kLogits ? 0.0F : 0.5F; }

 private:
  const Variant variant_;
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

LossPtr sparse_categorical_crossentropy(Prediction input, double label_smoothing) {
  return std::make_shared<SparseCategorical>(
      Variant("sparse_categorical_crossentropy", input, label_smoothing));
}
LossPtr binary_crossentropy(Prediction input, double label_smoothing) {
  return std::make_shared<Binary>(Variant("binary_crossentropy", input, label_smoothing));
}
LossPtr mean_squared_error() {
  return std::make_shared<SquaredError>();
}
LossPtr mean_absolute_error() {
  return std::make_shared<AbsoluteError>();
}

LossPtr make_loss(std::string_view text) {
  std::string_view name = text;
  double smoothing = 0;
  if (const std::size_t at = text.find(kSmoothing); at != std::string_view::npos) {
    name = text.substr(0, at);
    const std::string_view digits = text.substr(at + kSmoothing.size());
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), smoothing);
    if (failed != std::errc() || end != digits.data() + digits.size() ||
        name.find("crossentropy") == std::string_view::npos) {
      throw std::invalid_argument(
          "[loss] '" + std::string(text) +
          "': label_smoothing takes a number, as in label_smoothing=0.1, and only the "
          "cross-entropies have one");
    }
  }
  if (name == "sparse_categorical_crossentropy")
    return sparse_categorical_crossentropy(Prediction::kProbabilities, smoothing);
  if (name == "sparse_categorical_crossentropy_from_logits")
    return sparse_categorical_crossentropy(Prediction::kLogits, smoothing);
  if (name == "binary_crossentropy") return binary_crossentropy(Prediction::kProbabilities, smoothing);
  if (name == "binary_crossentropy_from_logits") return binary_crossentropy(Prediction::kLogits, smoothing);
  if (name == "mse" || name == "mean_squared_error") return mean_squared_error();
  if (name == "mae" || name == "mean_absolute_error") return mean_absolute_error();
  throw std::invalid_argument("[loss] '" + std::string(text) +
                              "' is not known; there are: sparse_categorical_crossentropy[_from_logits], "
                              "binary_crossentropy[_from_logits], mse, mae");
}

}  // namespace mirrorscale::strategies

#include "strategies/engine/metric.h"

#include "strategies/engine/count_metric.h"

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

using kernels::Backend;
using kernels::Column;
using kernels::ConstMatrix;

/// A metric that is the value of a loss.
class LossMetric final : public Metric {
 public:
  using Shown = double (*)(double mean);
  LossMetric(
      std::string name, LossPtr loss, Shown rule = [](double mean) { return mean; })
      : name_(std::move(name)), loss_(std::move(loss)), shown_(rule) {}
  std::string name() const override { return name_; }
  void check(int outputs, const TargetShape& shape) const override { loss_->check(outputs, shape); }
  void compute(Backend& backend, ConstMatrix y, const Targets& t, Column values) const override {
    loss_->compute(backend, y, t, {}, values);
  }
  double shown(double mean) const override { return shown_(mean); }

 private:
  const std::string name_;
  const LossPtr loss_;
  const Shown shown_;
};

class SparseAccuracy final : public Metric {
 public:
  explicit SparseAccuracy(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  void check(int, const TargetShape& shape) const override {
    if (shape.classes == 0) {
      throw std::invalid_argument("[metric] " + name_ +
                                  " needs class labels, but the data set has numeric targets");
    }
  }
  void compute(Backend& backend, ConstMatrix y, const Targets& t, Column values) const override {
    backend.sparse_hits(y, t.labels, t.weights, values);
  }

 private:
  const std::string name_;
};

class BinaryAccuracy final : public Metric {
 public:
  BinaryAccuracy(std::string name, float threshold) : name_(std::move(name)), threshold_(threshold) {}
  std::string name() const override { return name_; }
  void check(int outputs, const TargetShape& shape) const override {
    if (shape.target_columns != outputs) {
      throw std::invalid_argument("[metric] " + name_ +
                                  " needs numeric targets with as many columns as the model has "
                                  "outputs (" +
                                  std::to_string(outputs) + "); the data set has " +
                                  std::to_string(shape.target_columns));
    }
  }
  void compute(Backend& backend, ConstMatrix y, const Targets& t, Column values) const override {
    backend.binary_hits(y, t.values, threshold_, t.weights, values);
  }

 private:
  const std::string name_;
  const float threshold_;
};

}  // namespace

MetricPtr make_metric(std::string_view name, const Loss& loss) {
  const std::string text(name);
  if (name == "sparse_categorical_accuracy") return std::make_shared<SparseAccuracy>(text);
  if (name == "binary_accuracy") return std::make_shared<BinaryAccuracy>(text, loss.binary_threshold());
  if (name == "mse") return std::make_shared<LossMetric>(text, mean_squared_error());
  if (name == "mae") return std::make_shared<LossMetric>(text, mean_absolute_error());
  if (name == "perplexity" || name == "bits_per_token") {
    if (loss.name().rfind("sparse_categorical", 0) != 0) {
      throw std::invalid_argument("[metric] " + text + " has no meaning for the loss " + loss.name() +
                                  "; it is made from sparse_categorical_crossentropy");
    }
    const LossMetric::Shown exponential = [](double mean) { return std::exp(mean); },
                            bits = [](double mean) { return mean / std::numbers::ln2; };
    return std::make_shared<LossMetric>(text, make_loss(loss.name()),
                                        name == "perplexity" ? exponential : bits);
  }
  if (name == "accuracy") {
    if (loss.name().rfind("sparse_categorical", 0) == 0) return std::make_shared<SparseAccuracy>(text);
    if (loss.name().rfind("binary", 0) == 0)
      return std::make_shared<BinaryAccuracy>(text, loss.binary_threshold());
    throw std::invalid_argument("[metric] accuracy has no meaning for the loss " + loss.name() +
                                "; use mse or mae");
  }
  throw std::invalid_argument("[metric] '" + text +
                              "' is not known; there are: accuracy, sparse_categorical_accuracy, "
                              "binary_accuracy, mse, mae, perplexity, bits_per_token, " +
                              count_metric_names());
}

}  // namespace mirrorscale::strategies

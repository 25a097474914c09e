#pragma once
#include "scenarios/oracle/trainer.h"
#include "tests/scenarios/oracle/float_trainer.h"
#include "tests/scenarios/oracle/float_trainer_loss.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

/// Random training runs, the same for the oracle and for a float32 run, and how near the one comes to the
/// other's bound.
namespace mirrorscale::tests {

enum class Rows { kUniform, kPixels, kNormal, kAllEqual, kIdentity };

struct BoundCase {
  std::string name;
  std::vector<oracle::Dense> layers;
  oracle::Settings settings;
  std::size_t rows = 32, shard_rows = 4, steps = 5;
  Rows kind = Rows::kNormal;
  bool weighted = false;
  bool fresh_batches = true;
};

/// The largest |difference| / bound after each step; gradient and loss are of the step itself.
struct Ratios {
  std::vector<double> weights, gradients, slots, losses, predictions;
  double largest() const {
    double most = 0;
    for (const auto* list : {&weights, &gradients, &slots, &losses, &predictions}) {
      for (const double r : *list) most = std::max(most, r);
    }
    return most;
  }
};

class BoundRun {
 public:
  BoundRun(const BoundCase& c, unsigned seed, Fault fault = {})
      : case_(c),
        random_(seed),
        weights_(initial()),
        judge_(c.layers, c.settings, weights_),
        judged_(c.layers, c.settings, weights_, c.shard_rows, fault) {}

  Ratios run() {
    Ratios result;
    for (std::size_t s = 0; s < case_.steps; ++s) {
      if (s == 0 || case_.fresh_batches) draw();
      const oracle::Batch batch{case_.rows, x_, labels_, targets_, sample_weights_};
      const oracle::Estimate loss = judge_.step(batch).data;
      result.losses.push_back(std::fabs(loss.value - static_cast<double>(judged_.step(batch))) / loss.bound);
      double weights = 0, gradients = 0, slots = 0;
      for (std::size_t a = 0; a < judge_.weight_count(); ++a) {
        weights = std::max(weights, largest(judge_.weights(a), judged_.weights(a)));
        gradients = std::max(gradients, largest(judge_.gradients(a), judged_.gradients(a)));
        for (int slot = 0; slot < 2; ++slot) {
          if (judge_.slots(a, slot).values.empty()) continue;
          slots = std::max(slots, largest(judge_.slots(a, slot), judged_.slots(a, slot)));
        }
      }
      result.weights.push_back(weights);
      result.gradients.push_back(gradients);
      result.slots.push_back(slots);
      result.predictions.push_back(largest(judge_.predict(x_, case_.rows), judged_.predict(batch)));
    }
    return result;
  }

  oracle::Trainer& judge() { return judge_; }

 private:
  /// NaN counts as beyond any bound.
  static double largest(const oracle::Estimates& expected, const std::vector<float>& actual) {
    double most = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const double ratio =
          std::fabs(expected.values[i] - static_cast<double>(actual[i])) / expected.bounds[i];
      most = ratio <= most ? most : std::isnan(ratio) ? HUGE_VAL : ratio;
    }
    return most;
  }

  double uniform() { return static_cast<double>(std::uniform_real_distribution<float>(0, 1)(random_)); }
  double normal() { return static_cast<double>(std::normal_distribution<float>()(random_)); }

  std::vector<std::vector<double>> initial() {
    std::vector<std::vector<double>> weights;
    for (const oracle::Dense& layer : case_.layers) {
      const double limit = std::sqrt(6.0 / static_cast<double>(layer.inputs + layer.outputs));
      std::vector<double> kernel(layer.inputs * layer.outputs), bias(layer.outputs);
      for (double& w : kernel) w = static_cast<float>(limit * (2 * uniform() - 1));
      for (double& b : bias) b = static_cast<float>(0.1 * normal());
      weights.push_back(std::move(kernel));
      if (layer.bias) weights.push_back(std::move(bias));
    }
    return weights;
  }

  void draw() {
    const std::size_t inputs = case_.layers.front().inputs, outputs = case_.layers.back().outputs;
    x_.assign(case_.rows * inputs, 0);
    for (std::size_t r = 0; r < case_.rows; ++r) {
      for (std::size_t i = 0; i < inputs; ++i) {
        double& x = x_[r * inputs + i];
        const double u = uniform();
        if (case_.kind == Rows::kUniform) x = u;
        if (case_.kind == Rows::kPixels) x = u < 0.6 ? 0 : u;
        if (case_.kind == Rows::kNormal) x = normal();
        if (case_.kind == Rows::kAllEqual) x = r == 0 ? u : x_[i];
        if (case_.kind == Rows::kIdentity) x = r % inputs == i ? 1 : 0;
      }
    }
    labels_.clear();
    targets_.clear();
    sample_weights_.clear();
    const oracle::Loss loss = case_.settings.loss;
    if (loss == oracle::Loss::kSparseCrossEntropyFromLogits || loss == oracle::Loss::kSparseCrossEntropy) {
      for (std::size_t r = 0; r < case_.rows; ++r) labels_.push_back(static_cast<int>(random_() % outputs));
    } else {
      const bool real = loss == oracle::Loss::kMeanSquaredError || loss == oracle::Loss::kMeanAbsoluteError;
      for (std::size_t i = 0; i < case_.rows * outputs; ++i) {
        targets_.push_back(real ? normal() : uniform() < 0.5 ? 0.0 : 1.0);
      }
    }
    for (std::size_t r = 0; r < case_.rows && case_.weighted; ++r) sample_weights_.push_back(uniform());
  }

  BoundCase case_;
  std::mt19937 random_;
  std::vector<std::vector<double>> weights_;
  oracle::Trainer judge_;
  FloatTrainer judged_;
  std::vector<double> x_, targets_, sample_weights_;
  std::vector<int> labels_;
};

/// inputs -> hidden (`depth` layers of `width`) -> outputs.
inline std::vector<oracle::Dense> network(std::size_t inputs, std::size_t width, std::size_t depth,
                                          std::size_t outputs, oracle::Activation hidden,
                                          oracle::Activation last = oracle::Activation::kLinear) {
  std::vector<oracle::Dense> layers;
  for (std::size_t i = 0; i < depth; ++i) {
    layers.push_back({.inputs = layers.empty() ? inputs : width, .outputs = width, .activation = hidden});
  }
  layers.push_back({.inputs = layers.empty() ? inputs : width, .outputs = outputs, .activation = last});
  return layers;
}

}  // namespace mirrorscale::tests

// MET: what evaluate reports, computed again from the predictions by plain loops in double.
#include "harness/check/metric.h"
#include "kernels/buffer.h"
#include "scenarios/validation/invariants.h"
#include "scenarios/workloads/workload.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

namespace mirrorscale::scenarios {
namespace {

struct Answers {
  std::size_t of_row = 1;  // labels, and weights likewise
  std::vector<int> labels;
  std::vector<double> targets, weights;  // targets row-major
};

Answers answers_of(const strategies::Dataset& data) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(data.rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  Answers answers;
  answers.of_row = static_cast<std::size_t>(data.labels_per_row());
  std::vector<float> weights(rows.size(), 1.0F);
  if (data.weighted()) data.copy_weights(rows, weights.data());
  for (const float w : weights)
    answers.weights.insert(answers.weights.end(), answers.of_row, static_cast<double>(w));
  if (data.classes() > 0) {
    answers.labels.resize(rows.size() * answers.of_row);
    data.copy_labels(rows, answers.labels.data());
  }
  const int columns = data.target_columns();
  if (columns > 0) {
    const auto count = static_cast<int>(rows.size());
    const kernels::Buffer buffer = kernels::make_buffer(kernels::activation_size(count, columns));
    const kernels::Matrix values{buffer.get(), count, columns, kernels::activation_stride(count)};
    data.copy_targets(rows, values);
    for (int r = 0; r < count; ++r) {
      for (int c = 0; c < columns; ++c) answers.targets.push_back(static_cast<double>(values.at(r, c)));
    }
  }
  return answers;
}

bool is_accuracy(const std::string& name) {
  return name == "accuracy" || name == "sparse_categorical_accuracy" || name == "binary_accuracy";
}

/// -log softmax(z)[label].
double cross_entropy(const float* z, std::size_t columns, int label) {
  const double top = static_cast<double>(*std::max_element(z, z + columns));
  double sum = 0;
  for (std::size_t c = 0; c < columns; ++c) sum += std::exp(static_cast<double>(z[c]) - top);
  return std::log(sum) - (static_cast<double>(z[label]) - top);
}

double clamped(double probability) {
  return std::clamp(probability, 1e-7, 1 - 1e-7);
}

/// What one column adds to a metric or loss that is a mean over columns; empty for one without a formula
/// here.
std::optional<double> column_value(const std::string& name, double y, double target, bool logits) {
  if (is_accuracy(name)) return (y > (logits ? 0.0 : 0.5)) == (target > 0.5) ? 1 : 0;
  if (name == "mse" || name == "mean_squared_error") return (y - target) * (y - target);
  if (name == "mae" || name == "mean_absolute_error") return std::abs(y - target);
  if (name == "binary_crossentropy_from_logits") {
    return std::max(y, 0.0) - y * target + std::log1p(std::exp(-std::abs(y)));
  }
  if (name == "binary_crossentropy") {
    return -(target * std::log(clamped(y)) + (1 - target) * std::log(clamped(1 - y)));
  }
  return std::nullopt;
}

/// The metric or loss of one answer, or empty where this file knows no formula of it.
std::optional<double> value_of(const std::string& name, const strategies::Predictions& p,
                               const Answers& answers, std::size_t row, bool logits) {
  const std::size_t columns = static_cast<std::size_t>(p.columns) / answers.of_row;
  const float* y = p.values.data() + row * columns;
  if (!answers.labels.empty()) {
    const int label = answers.labels[row];
    if (is_accuracy(name)) return std::max_element(y, y + columns) - y == label ? 1.0 : 0.0;
    if (name == "sparse_categorical_crossentropy_from_logits") return cross_entropy(y, columns, label);
    if (name == "bits_per_token" && logits) return cross_entropy(y, columns, label) / std::numbers::ln2;
    if (name == "sparse_categorical_crossentropy") return -std::log(clamped(static_cast<double>(y[label])));
    return std::nullopt;
  }
  double sum = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    const double target = answers.targets.empty() ? 0 : answers.targets[row * columns + c];
    const auto value = column_value(name, static_cast<double>(y[c]), target, logits);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(columns);
}

/// l1 sum |w| + l2 sum w^2 of the run's weights: a part of every loss.
double penalty_of(const strategies::Network& network, const ShortRun& run) {
  double sum = 0;
  for (std::size_t i = 0; i < run.weights.size(); ++i) {
    const strategies::Penalty& penalty = network.parameters().slices()[i].spec.penalty;
    for (const float w : run.weights[i].values) {
      const auto value = static_cast<double>(w);
      sum +=
          static_cast<double>(penalty.l1) * std::abs(value) + static_cast<double>(penalty.l2) * value * value;
    }
  }
  return sum;
}

/// Compares `reported`, the mean over answers of `name`, with the mean of what the predictions say.
harness::Verdict check_mean(const std::string& name, double reported, const ShortRun& run,
                            const Answers& answers, bool logits) {
  const std::size_t columns = static_cast<std::size_t>(run.predictions.columns) / answers.of_row;
  harness::MetricPart pooled;
  double magnitude = 0;
  for (std::size_t r = 0; r < answers.weights.size(); ++r) {
    const auto value = value_of(name, run.predictions, answers, r, logits);
    if (!value) return harness::skipped("MET", name + ": no independent formula");
    const float* y = run.predictions.values.data() + r * columns;
    double largest = 0;
    for (std::size_t c = 0; c < columns; ++c)
      largest = std::max(largest, std::abs(static_cast<double>(y[c])));
    pooled.sum += *value * answers.weights[r];
    pooled.count += answers.weights[r];
    magnitude += (std::abs(*value) + largest + 1) * answers.weights[r];
  }
  // Hits are exact; another row's value is a float, off by a few rounding errors of what it was computed
  // from.
  const bool exact = is_accuracy(name) && !answers.labels.empty();
  const double allowance = exact ? 0 : 32 * 0x1p-24 * magnitude / std::max(pooled.count, 1e-300);
  const std::vector<harness::MetricPart> one{pooled};
  return harness::check_pooled(name, one, reported, pooled.count, allowance);
}

}  // namespace

harness::Verdict check_metrics(const CellSpec& spec, const ShortRun& run, const strategies::Dataset& test) {
  const Workload& workload = find_workload(spec.workload);
  const bool logits = workload.loss.find("from_logits") != std::string::npos;
  const Answers answers = answers_of(test);
  const double loss = run.evaluation.at("loss") - penalty_of(network_of(spec, test), run);
  std::vector<harness::Verdict> parts{check_mean(workload.loss, loss, run, answers, logits)};
  for (const std::string& metric : workload.metrics) {
    parts.push_back(check_mean(metric, run.evaluation.at(metric), run, answers, logits));
  }
  return harness::combine(parts);
}

}  // namespace mirrorscale::scenarios

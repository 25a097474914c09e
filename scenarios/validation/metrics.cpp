// MET: what evaluate reports, computed again from the predictions by plain loops in double.
#include "harness/check/metric.h"
#include "kernels/buffer.h"
#include "scenarios/validation/invariants.h"
#include "scenarios/workloads/workload.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace mirrorscale::scenarios {
namespace {

struct Answers {
  std::vector<int> labels;
  std::vector<double> targets, weights;  // targets row-major
};

Answers answers_of(const strategies::Dataset& data) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(data.rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  Answers answers;
  answers.weights.assign(rows.size(), 1.0);
  if (data.weighted()) {
    std::vector<float> weights(rows.size());
    data.copy_weights(rows, weights.data());
    answers.weights.assign(weights.begin(), weights.end());
  }
  if (data.classes() > 0) {
    answers.labels.resize(rows.size());
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

/// The metric of one row, or empty for a metric this file knows no formula of.
std::optional<double> value_of(const std::string& metric, const strategies::Predictions& p,
                               const Answers& answers, std::size_t row, bool logits) {
  const auto columns = static_cast<std::size_t>(p.columns);
  const float* y = p.values.data() + row * columns;
  const bool accuracy =
      metric == "accuracy" || metric == "sparse_categorical_accuracy" || metric == "binary_accuracy";
  if (accuracy && !answers.labels.empty()) {
    return std::max_element(y, y + columns) - y == answers.labels[row] ? 1.0 : 0.0;
  }
  double sum = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    const double target = answers.targets.empty() ? 0 : answers.targets[row * columns + c];
    const double value = static_cast<double>(y[c]);
    if (accuracy) {
      sum += (value > (logits ? 0.0 : 0.5)) == (target > 0.5) ? 1 : 0;
    } else if (metric == "mse") {
      sum += (value - target) * (value - target);
    } else if (metric == "mae") {
      sum += std::abs(value - target);
    } else {
      return std::nullopt;
    }
  }
  return sum / static_cast<double>(columns);
}

}  // namespace

harness::Verdict check_metrics(const CellSpec& spec, const ShortRun& run, const strategies::Dataset& test) {
  const Workload& workload = find_workload(spec.workload);
  const bool logits = workload.loss.find("from_logits") != std::string::npos;
  const Answers answers = answers_of(test);
  const auto rows = static_cast<std::size_t>(test.rows());
  std::vector<harness::Verdict> parts{
      harness::check_within("loss", run.evaluation.at("loss"), 0, std::numeric_limits<double>::max())};
  for (const std::string& metric : workload.metrics) {
    harness::MetricPart pooled;
    double magnitude = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const auto value = value_of(metric, run.predictions, answers, r, logits);
      if (!value) {
        parts.push_back(harness::skipped("MET", metric + ": no independent formula"));
        break;
      }
      pooled.sum += *value * answers.weights[r];
      pooled.count += answers.weights[r];
      magnitude += std::abs(*value) * answers.weights[r];
    }
    // Hits are exact; a row's error is a float, off by a few rounding errors of its own size.
    const bool exact = metric.find("accuracy") != std::string::npos && !answers.labels.empty();
    const double allowance = exact ? 0 : 16 * 0x1p-24 * magnitude / std::max(pooled.count, 1e-300);
    const std::vector<harness::MetricPart> one{pooled};
    parts.push_back(harness::check_pooled(metric, one, run.evaluation.at(metric), pooled.count, allowance));
  }
  return harness::combine(parts);
}

}  // namespace mirrorscale::scenarios

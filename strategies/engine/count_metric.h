#pragma once
#include "strategies/engine/loss.h"
#include "strategies/engine/scope_tag.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::strategies {

/// Counts to be looked at: value [row, column] at values[row * columns + column], in rows of the output (in
/// units of sample weight where rows have one).
struct CountTable {
  std::string row_is, column_is;  // what a row and a column stand for: "true class"
  int rows = 0, columns = 0;
  std::vector<double> values;
};

/// A metric that is a function of counts over all rows, which no mean over rows gives: precision, AUC. Counts
/// are whole numbers, so that their sums are the same in any order, for any number of replicas and any batch,
/// and a ratio is taken once, when it is shown. A row counts by its sample weight (Keras' `weighted_metrics`)
/// in whole steps of 2^-30: `kOne` where there is none.
class CountMetric : public MadeInScope {
 public:
  static constexpr std::int64_t kOne = std::int64_t{1} << 30;

  virtual ~CountMetric() = default;
  virtual std::string name() const = 0;
  /// Throws std::invalid_argument when it can't be computed for a model with `outputs` columns on `shape`.
  virtual void check(int outputs, const TargetShape& shape) const = 0;
  /// How many counts it keeps.
  virtual std::size_t cells(int outputs) const = 0;
  /// Adds rows to the counts; `y` and `targets` are in host memory. Throws std::runtime_error for
  /// predictions that it has no meaning for, and when the sum of weights leaves 2^33.
  virtual void count(kernels::ConstMatrix y, const Targets& targets, std::span<std::int64_t> cells) const = 0;
  /// The metric; none where it is a table only.
  virtual std::optional<double> value(std::span<const std::int64_t> cells) const = 0;
  virtual std::optional<CountTable> table(std::span<const std::int64_t> /*cells*/) const { return {}; }
};
using CountMetricPtr = std::shared_ptr<const CountMetric>;

/// Whether the name before an '=' is one of make_count_metric's.
bool is_count_metric(std::string_view name);

/// "top_k" (the label is among the 5 highest scores; "top_k=3": the 3 highest), "precision" and "recall" (of
/// probabilities above 0.5; "precision=0.7"), "auc" (under the ROC curve at 200 thresholds, as
/// tf.keras.metrics.AUC; "auc=500"), "confusion". Scores are made probabilities where `loss` is from logits.
/// With class labels precision, recall and auc are over all pairs of row and class (one-hot labels, as
/// Keras). Throws std::invalid_argument that lists the names.
CountMetricPtr make_count_metric(std::string_view text, const Loss& loss);

/// The names of make_count_metric, for messages.
std::string count_metric_names();

}  // namespace mirrorscale::strategies

#pragma once
#include "strategies/engine/loss.h"
#include "strategies/engine/scope_tag.h"

#include <memory>
#include <string>
#include <string_view>

namespace mirrorscale::strategies {

/// A mean over rows, pooled from weighted sums and summed weights (never a mean of means): right for any
/// sharding. User-made metrics derive from it.
class Metric : public MadeInScope {
 public:
  virtual ~Metric() = default;
  virtual std::string name() const = 0;
  /// Throws std::invalid_argument when it can't be computed for a model with `outputs` columns on `shape`.
  virtual void check(int outputs, const TargetShape& shape) const = 0;
  /// values[row] = weight · value of the row.
  virtual void compute(kernels::Backend& backend, kernels::ConstMatrix y, const Targets& targets,
                       kernels::Column values) const = 0;
  /// What is shown of the pooled mean.
  virtual double shown(double mean) const { return mean; }
};
using MetricPtr = std::shared_ptr<const Metric>;

/// "sparse_categorical_accuracy", "binary_accuracy", "mse", "mae", "perplexity" and "bits_per_token" (e to
/// the mean of `loss`, and it over ln 2, where it is a sparse cross-entropy), and "accuracy", which is the
/// one of the two accuracies that fits `loss`. Throws std::invalid_argument that lists the names.
MetricPtr make_metric(std::string_view name, const Loss& loss);

}  // namespace mirrorscale::strategies

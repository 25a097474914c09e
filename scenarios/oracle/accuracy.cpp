#include "scenarios/oracle/accuracy.h"

#include <algorithm>
#include <cmath>

namespace mirrorscale::scenarios::oracle {

namespace {

double weight_of(const Batch& batch, std::size_t row) {
  return batch.weights.empty() ? 1 : batch.weights[row];
}

}  // namespace

Hits sparse_hits(const ErrorModel& errors, const Tracked& prediction, const Batch& batch) {
  Hits hits;
  for (std::size_t r = 0; r < prediction.rows; ++r) {
    const double* row = &prediction.value[r * prediction.columns];
    const double* scale = &prediction.scale[r * prediction.columns];
    const auto label = static_cast<std::size_t>(batch.labels[r]);
    const auto top = static_cast<std::size_t>(std::max_element(row, row + prediction.columns) - row);
    const double weight = weight_of(batch, r);
    if (top == label) hits.sum += weight;
    const bool close = std::any_of(row, row + prediction.columns, [&](const double& other) {
      const auto c = static_cast<std::size_t>(&other - row);
      const double doubt = scale[c] + scale[label];
      if (c == label || doubt == 0 || std::fabs(other - row[label]) > errors.bound_of(doubt)) return false;
      return top == label || row[top] - other <= errors.bound_of(scale[c] + scale[top]);
    });
    if (close) hits.undecided += std::fabs(weight);
  }
  return hits;
}

Hits binary_hits(const ErrorModel& errors, const Tracked& prediction, const Batch& batch, double threshold) {
  Hits hits;
  const double share = 1 / static_cast<double>(prediction.columns);
  for (std::size_t i = 0; i < prediction.size(); ++i) {
    const double p = prediction.value[i], weight = weight_of(batch, i / prediction.columns) * share;
    if ((p > threshold) == (batch.targets[i] > 0.5)) hits.sum += weight;
    const double scale = prediction.scale[i];
    if (scale > 0 && std::fabs(p - threshold) <= errors.bound_of(scale)) hits.undecided += std::fabs(weight);
  }
  return hits;
}

}  // namespace mirrorscale::scenarios::oracle

#pragma once
#include "strategies/engine/count_metric.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mirrorscale::strategies {

/// The counts of several metrics over the rows that one replica judged: those of the first metric, then of
/// the second, ... Used by one thread.
class Tally {
 public:
  Tally(std::vector<CountMetricPtr> metrics, int outputs);
  /// Counts rows whose predictions and targets lie on `backend`. On a GPU they are copied to the host, which
  /// waits for the ops before: [rows, outputs] and [rows] numbers a call.
  void add(kernels::Backend& backend, kernels::ConstMatrix y, const Targets& targets);
  /// Remembers the counts, for a step that may come to nothing; undo() puts them back.
  void remember() { remembered_ = counts_; }
  void undo() { counts_ = remembered_; }
  std::span<const std::int64_t> counts() const { return counts_; }
  /// The part of `counts` that belongs to metric `i` of `metrics`; all zeros where there are no counts.
  static std::vector<std::int64_t> part(std::span<const CountMetricPtr> metrics, std::size_t i, int outputs,
                                        std::span<const std::int64_t> counts);

 private:
  std::vector<CountMetricPtr> metrics_;
  int outputs_;
  std::vector<std::int64_t> counts_, remembered_;
  std::vector<float> y_, values_, labels_, weights_;  // copies of what a GPU holds
  std::vector<int> label_numbers_;
};

}  // namespace mirrorscale::strategies

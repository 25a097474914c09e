#pragma once
#include "harness/judge/relative.h"
#include "scenarios/gate/judgement.h"

#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// Both sides of a gate as tables of launches: the baseline's come first.
class GateTables {
 public:
  GateTables(const std::vector<Launch>& baseline, const Candidate& candidate, const GateConfig& config);

  const std::vector<std::string>& cells() const { return cells_; }
  const std::vector<const Launch*>& launches() const { return launches_; }
  std::size_t baseline_launches() const { return baseline_launches_; }

  /// A metric's losses, in logarithms; launches that only confirm are in it.
  harness::LaunchTable losses(Metric metric) const;
  /// In units of the reference loop. The fastest step has no seconds of its own: it is held against the
  /// median speed of the loop over all cells of its launch.
  harness::LaunchTable calibrated_losses(Metric metric) const;

  /// A cell's values of one side, without launches that don't count for it.
  std::vector<harness::LaunchValue> side(const harness::LaunchTable& table, std::size_t cell,
                                         bool baseline) const;
  /// The last record of a cell in a launch, or null.
  const harness::CellRecord* record(std::size_t cell, std::size_t launch) const {
    return records_[cell][launch];
  }
  /// Whether a launch of the candidate counts for a cell.
  bool counts(std::size_t cell, std::size_t launch) const;

 private:
  harness::LaunchTable against_whole_launch(harness::LaunchTable losses) const;
  template <class LossOf>
  harness::LaunchTable table(LossOf loss_of) const;

  std::vector<std::string> cells_;  // in order of appearance
  std::vector<const Launch*> launches_;
  std::vector<int> session_;
  std::size_t baseline_launches_, confirming_;
  const std::set<std::string>& suspects_;
  std::vector<std::vector<const harness::CellRecord*>> records_;  // [cell][launch]
};

}  // namespace mirrorscale::scenarios

#pragma once
#include "scenarios/cells/phase_sums.h"
#include "strategies/model.h"

#include <cstdint>
#include <vector>

namespace mirrorscale::scenarios {

/// Trains a model on and on, some steps at a time, from epoch to epoch, and keeps the time of each step. What
/// a cell's measurement runs.
class TrainingLoop {
 public:
  /// Only whole batches are run, so that all steps are alike; throws std::invalid_argument when the data set
  /// has none.
  TrainingLoop(strategies::Model& model, strategies::DatasetPtr data, int global_batch, std::uint64_t seed);

  /// Returns the seconds of these steps: each the maximum over replicas from a common start.
  double run(int steps);
  /// Seconds of the steps of the last run.
  const std::vector<double>& last_step_times_s() const { return last_; }

  /// Since the last reset.
  Phases mean_phases() const { return phases_.mean(); }
  void reset_phases() { phases_.reset(); }

 private:
  strategies::Model& model_;
  strategies::DatasetPtr data_;
  int global_batch_;
  std::uint64_t seed_;
  int epoch_ = 0;
  std::int64_t next_ = 0, batches_ = 0;
  std::vector<std::int64_t> order_;
  std::vector<double> last_;
  PhaseSums phases_;
};

}  // namespace mirrorscale::scenarios

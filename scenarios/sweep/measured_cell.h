#pragma once
#include "scenarios/cells/cell.h"
#include "scenarios/cells/training_loop.h"

#include <memory>
#include <vector>

namespace mirrorscale::scenarios {

/// A cell that stands ready: model, devices and data, warmed up, and what its slices gave so far.
class CellUnderTest {
 public:
  CellUnderTest(const CellSpec& spec, const strategies::DatasetPtr& data, double slice_s);

  /// One slice; returns its seconds. Then measures, in the same moment, what the cores can do at most.
  double run_slice(int steps);

  const CellSpec& spec() const { return spec_; }
  bool oversubscribed() const { return oversubscribed_; }
  int warmup_steps() const { return warmup_steps_; }
  int steps_per_slice() const { return steps_per_slice_; }
  const std::vector<double>& step_times_s() const { return step_times_s_; }
  /// Share of the FMA peak of each slice; empty for oversubscribed cells.
  const std::vector<double>& peak_shares() const { return peak_shares_; }
  TrainingLoop::Phases phases() const { return loop_.mean_phases(); }

 private:
  double peak_flops_per_s();

  CellSpec spec_;
  strategies::Strategy strategy_;
  strategies::Model model_;
  TrainingLoop loop_;
  std::vector<std::unique_ptr<kernels::Backend>> peaks_;  // a replica
  double flops_per_step_;
  bool oversubscribed_;
  int warmup_steps_ = 0, steps_per_slice_ = 1;
  std::vector<double> step_times_s_, peak_shares_;
};

}  // namespace mirrorscale::scenarios

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
  ~CellUnderTest();
  CellUnderTest(const CellUnderTest&) = delete;
  CellUnderTest& operator=(const CellUnderTest&) = delete;

  /// One slice; returns its seconds. Then measures, in the same moment, what the cores can do at most.
  double run_slice(int steps);

  const CellSpec& spec() const { return spec_; }
  /// Whether its times say anything about scaling.
  bool makes_claim() const { return makes_claim_; }
  int warmup_steps() const { return warmup_steps_; }
  int steps_per_slice() const { return steps_per_slice_; }
  const std::vector<double>& step_times_s() const { return step_times_s_; }
  /// Share of the FMA peak of each slice; empty for cells that make no claim.
  const std::vector<double>& peak_shares() const { return peak_shares_; }
  TrainingLoop::Phases phases() const { return loop_.mean_phases(); }

 private:
  void make_peaks();
  double peak_flops_per_s();

  CellSpec spec_;
  strategies::Strategy strategy_;
  strategies::Model model_;
  TrainingLoop loop_;
  /// What measures a device's peak; made, used and destroyed by the replica's thread.
  struct Peak {
    std::unique_ptr<kernels::Backend> backend;
    double flops = 0;  // of one look
  };
  std::vector<Peak> peaks_;  // by replica
  double flops_per_step_;
  bool makes_claim_;
  int warmup_steps_ = 0, steps_per_slice_ = 1;
  std::vector<double> step_times_s_, peak_shares_;
};

}  // namespace mirrorscale::scenarios

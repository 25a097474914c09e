#pragma once
#include "harness/measure/slice_clocks.h"
#include "scenarios/cells/cell.h"
#include "scenarios/cells/steady.h"
#include "scenarios/cells/training_loop.h"
#include "scenarios/sweep/slice_source.h"

#include <memory>
#include <vector>

namespace mirrorscale::scenarios {

/// A cell that stands ready: model, devices and data, warmed up, and what its slices gave so far.
class CellUnderTest final : public SliceSource {
 public:
  CellUnderTest(const CellSpec& spec, const strategies::DatasetPtr& data, double slice_s);
  ~CellUnderTest() override;
  CellUnderTest(const CellUnderTest&) = delete;
  CellUnderTest& operator=(const CellUnderTest&) = delete;

  /// One slice; returns its seconds. Then measures, in the same moment, what the cores can do at most.
  double run_slice(int steps) override;

  const CellSpec& spec() const override { return spec_; }
  bool makes_claim() const override { return makes_claim_; }
  int warmup_steps() const override { return steady_.warmup_steps; }
  int steps_per_slice() const override { return steady_.steps_per_slice; }
  const std::vector<double>& step_times_s() const override { return step_times_s_; }
  const std::vector<double>& peak_shares() const override { return peak_shares_; }
  Phases phases() const override { return loop_.mean_phases(); }
  std::optional<harness::Clocks> clocks() const override { return clocks_.clocks(); }

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
  Steady steady_;
  harness::SliceClocks clocks_;
  std::vector<double> step_times_s_, peak_shares_;
};

}  // namespace mirrorscale::scenarios

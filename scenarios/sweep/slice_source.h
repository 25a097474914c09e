#pragma once
#include "harness/measure/clocks.h"
#include "scenarios/cells/cell.h"
#include "scenarios/cells/phase_sums.h"

#include <optional>
#include <vector>

namespace mirrorscale::scenarios {

/// A cell that stands ready to be measured, warmed up: what a measurement asks of it.
class SliceSource {
 public:
  virtual ~SliceSource() = default;
  /// Runs that many steps; returns their seconds, each the slowest replica's from a common start.
  virtual double run_slice(int steps) = 0;
  virtual const CellSpec& spec() const = 0;
  /// Whether its times say anything about scaling.
  virtual bool makes_claim() const = 0;
  virtual int warmup_steps() const = 0;
  virtual int steps_per_slice() const = 0;
  /// Of all slices so far.
  virtual const std::vector<double>& step_times_s() const = 0;
  /// Share of the FMA peak of each slice; empty for cells that make no claim.
  virtual const std::vector<double>& peak_shares() const = 0;
  virtual Phases phases() const = 0;
  /// What else was counted; empty where nothing is.
  virtual std::optional<harness::Clocks> clocks() const { return {}; }
};

}  // namespace mirrorscale::scenarios

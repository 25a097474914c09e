#pragma once
#include "harness/measure/stopping.h"
#include "harness/record/record.h"
#include "scenarios/cells/cell.h"
#include "scenarios/sweep/failure.h"
#include "scenarios/sweep/slice_source.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

struct MeasureOptions {
  harness::StoppingRule stopping;
  double slice_s = 0.01;
  double most_disturbed = 1;  // share of steps; with more, a cell that makes a claim has no measurement
  std::uint64_t seed = 1;     // of the order of slices, and of the bootstrap
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// One of the two; neither where another cell's device failed before this one was measured.
struct MeasuredCell {
  std::optional<harness::Measurement> measurement;
  std::optional<CellFailure> failure;
};

/// Measures cells of one group together: short slices of all of them in random order, through Google
/// Benchmark. Speed-up and efficiency refer to the first cell of `cells` that makes a claim, from slices
/// of the same rounds.
std::vector<MeasuredCell> measure_group(const std::vector<CellSpec>& cells,
                                        const strategies::DatasetPtr& data, const MeasureOptions& options);

/// The same of cells that stand ready, at least one. `data` is what they train on, for messages.
std::vector<MeasuredCell> measure_ready(std::vector<std::unique_ptr<SliceSource>> cells,
                                        const strategies::Dataset& data, const MeasureOptions& options);

}  // namespace mirrorscale::scenarios

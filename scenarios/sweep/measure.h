#pragma once
#include "harness/measure/stopping.h"
#include "harness/record/record.h"
#include "scenarios/cells/cell.h"

#include <functional>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

struct MeasureOptions {
  harness::StoppingRule stopping;
  double slice_s = 0.01;
  std::uint64_t seed = 1;  // of the order of slices, and of the bootstrap
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct MeasuredCell {
  harness::Measurement measurement;  // where error is empty
  std::string error;
};

/// Measures cells of one group together: short slices of all of them in random order, through Google
/// Benchmark. Speed-up and efficiency refer to the first cell of `cells` that is not oversubscribed, from
/// slices of the same rounds.
std::vector<MeasuredCell> measure_group(const std::vector<CellSpec>& cells,
                                        const strategies::DatasetPtr& data, const MeasureOptions& options);

}  // namespace mirrorscale::scenarios

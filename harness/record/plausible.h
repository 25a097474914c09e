#pragma once
#include "harness/record/record.h"

#include <string>

namespace mirrorscale::harness {

/// What no reader of fields can see: numbers that contradict each other. Returns what is wrong with the times
/// of a measured cell in one sentence, or nothing:
/// - slices that begin before the one before them began, or more than a day after: the clock jumped;
/// - a fastest, median and 95th percentile step that are out of order, or 0;
/// - CPU time far above the time of a step: one of them is in another unit;
/// - a throughput that fits no step time: one of them is in another unit.
/// Cells without a measurement, and emulated ones, make no such claim.
std::string implausible(const CellRecord& cell);

/// The same for a launch: empty unless `started` is more than a day after `now` (both as in a run record).
std::string implausible(const RunRecord& run, const std::string& now);

}  // namespace mirrorscale::harness

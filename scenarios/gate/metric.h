#pragma once
#include "harness/record/record.h"

#include <optional>
#include <string_view>
#include <vector>

namespace mirrorscale::scenarios {

/// What a gate compares of a cell. "step_min" is the fastest step: what the program does when nobody disturbs
/// it, on a crowded machine the only time that repeats. "results" is no number: status, invariants, and in
/// exact numerics the hash of the weights. "accuracy" and "validation_loss" are of the test rows after the
/// validation steps.
enum class Metric {
  kThroughput,
  kEfficiency,
  kStepMin,
  kStepP95,
  kMemory,
  kAccuracy,
  kValidationLoss,
  kResults
};
/// "throughput", "efficiency", "step_min", "step_p95", "memory", "accuracy", "validation_loss", "results".
std::string_view to_word(Metric metric);
/// Throws std::invalid_argument for any other word, with those that there are.
Metric metric_from_word(std::string_view word);
/// Those that the machine moves too, and that a test decides about.
const std::vector<Metric>& noisy_metrics();
bool larger_is_better(Metric metric);

/// The natural logarithm of the metric in this cell, its sign turned so that larger is worse. Empty where the
/// cell makes no such claim: not measured, oversubscribed, emulated, or the base of its own efficiency.
std::optional<double> loss_of(const harness::CellRecord& cell, Metric metric);

/// kAccuracy or kValidationLoss of a cell that is ok, else empty.
std::optional<double> evaluation_of(const harness::CellRecord& cell, Metric metric);

/// What a core could do at most in the same seconds, as a logarithm: the speed of the reference loop of fused
/// multiply-adds that runs after every slice. Empty where it was not measured.
std::optional<double> core_speed_of(const harness::CellRecord& cell);

/// The loss in units of that loop. Empty also where the metric is no time that belongs to those seconds.
std::optional<double> calibrated_loss_of(const harness::CellRecord& cell, Metric metric);

}  // namespace mirrorscale::scenarios

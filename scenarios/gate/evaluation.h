#pragma once
#include "scenarios/gate/tables.h"

#include <optional>

namespace mirrorscale::scenarios {

/// Whether what the validation steps learned got worse: `metric` is kAccuracy or kValidationLoss. These
/// numbers do not depend on the machine's mood, so no statistics: in exact numerics the least loss counts, in
/// fast ones a loss above `effect` (as a fraction of the baseline's worst launch). Empty where one of the
/// sides has no such number: records of schema 1, a workload without that metric, cells that failed.
std::optional<GateFinding> judge_evaluation(const GateTables& tables, std::size_t cell, Metric metric,
                                            double effect);

}  // namespace mirrorscale::scenarios

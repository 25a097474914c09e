#pragma once
#include "harness/record/record.h"
#include "scenarios/sweep/plan.h"

#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// What is known before the first cell: this launch, its plan, machine, engine and GPUs.
harness::RunRecord run_record(const SweepPlan& plan, const std::vector<std::string>& command);

}  // namespace mirrorscale::scenarios

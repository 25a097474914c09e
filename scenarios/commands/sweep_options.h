#pragma once
#include "scenarios/commands/devices.h"
#include "scenarios/sweep/plan.h"

#include <string>

namespace CLI {
class App;
}

namespace mirrorscale::scenarios {

/// The axes and settings of a plan as typed; empty where not given.
struct PlanOptions {
  std::string file, workload, devices, global_batch, local_batch, optimizer, seed, data;
  DeviceOptions on;
};

/// Adds the options that `sweep` and `validate` share.
void add_plan_options(CLI::App& command, PlanOptions& options);

/// The plan file, if any, and what was typed on top of it. Throws std::invalid_argument.
SweepPlan make_plan(const PlanOptions& options);

}  // namespace mirrorscale::scenarios

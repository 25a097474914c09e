#include "scenarios/commands/sweep_options.h"

#include "harness/sweep/axis.h"

#include <CLI/CLI.hpp>

namespace mirrorscale::scenarios {

void add_plan_options(CLI::App& command, PlanOptions& o) {
  command.add_option("--plan", o.file,
                     "TOML file with [axes] and [settings]; options below replace what it says");
  command.add_option("--workload", o.workload, "axis: workloads [mlp]; see `mirrorscale list`");
  command.add_option("--devices", o.devices, "axis: numbers of devices [1,2]");
  command.add_option("--global-batch", o.global_batch, "axis: rows a step over all devices (strong scaling)");
  command.add_option("--local-batch", o.local_batch, "axis: rows a step on each device (weak scaling)");
  command.add_option("--optimizer", o.optimizer, "axis: optimizers, e.g. adam,sgd:0.1 [the workload's]");
  command.add_option("--seed", o.seed, "axis: seeds [1]");
  command.add_option("--data", o.data, "data set, folder of IDX files, or .npz [the workload's]");
  add_device_options(command, o.on);
}

SweepPlan make_plan(const PlanOptions& o) {
  SweepPlan plan;
  if (!o.file.empty()) read_plan_file(o.file, plan);
  if (!o.workload.empty()) plan.workloads = harness::parse_name_axis("workload", o.workload);
  if (!o.devices.empty()) plan.devices = harness::parse_integer_axis("devices", o.devices);
  if (!o.global_batch.empty())
    plan.global_batches = harness::parse_integer_axis("global-batch", o.global_batch);
  if (!o.local_batch.empty()) plan.local_batches = harness::parse_integer_axis("local-batch", o.local_batch);
  if (!o.optimizer.empty()) plan.optimizers = harness::parse_name_axis("optimizer", o.optimizer);
  if (!o.seed.empty()) plan.seeds = harness::parse_integer_axis("seed", o.seed, 0);
  if (!o.data.empty()) plan.data = o.data;
  static_cast<DeviceSettings&>(plan) = settings_from(o.on, plan);
  if (o.on.wait_limit_s) plan.wait_limit_s = *o.on.wait_limit_s;
  if (plan.global_batches.empty() && plan.local_batches.empty()) plan.global_batches = {256};
  return plan;
}

}  // namespace mirrorscale::scenarios

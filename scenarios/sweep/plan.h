#pragma once
#include "harness/measure/stopping.h"
#include "harness/record/record.h"
#include "scenarios/cells/cell.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// A sweep: axes, and settings that all cells share. Those of the devices may still be choices to be made.
struct SweepPlan : DeviceSettings {
  std::vector<std::string> workloads{"mlp"};
  std::vector<std::string> optimizers;  // empty: each workload's own
  std::vector<std::int64_t> seeds{1};
  std::vector<std::int64_t> devices{1, 2};
  std::vector<std::int64_t> global_batches;  // strong scaling
  std::vector<std::int64_t> local_batches;   // weak scaling
  std::string data;                          // empty: each workload's own
  double wait_limit_s = 120;  // longest wait of one replica for another; not a part of the record
  harness::StoppingRule stopping{
      .relative_half_width = 0.01, .fewest_slices = 20, .most_slices = 1000, .budget_s = 10};
  double slice_s = 0.01;      // shortest slice; at least one step
  double most_disturbed = 1;  // see MeasureOptions; 1: however many
};

/// Cells that are measured together: equal but for their devices. The first has the fewest devices.
using CellGroup = std::vector<CellSpec>;

/// With every choice made; see resolved.
DeviceSettings devices_of(const SweepPlan& plan);

/// All cells in groups. Throws std::invalid_argument for unknown names, settings that contradict each other,
/// no batch axis, or a batch below 1; std::runtime_error for more devices than there are.
std::vector<CellGroup> groups_of(const SweepPlan& plan);

/// As a record holds it.
harness::Plan to_record(const SweepPlan& plan);

/// Reads a TOML file: tables [axes] (devices, global_batch, local_batch, workload, optimizer, seed: a value,
/// an array, or axis text) and [settings] (data, backend, numerics, precision, reduction, cross_device_ops,
/// graphs, registered_buffers, wait_limit_s, budget_s, half_width, slices, slice_s, most_disturbed; a number
/// as precision means half_width). What it says replaces what is in `plan`. Throws std::invalid_argument with
/// file, line and key for anything unknown or of a wrong type, and std::runtime_error for a file that can't
/// be read.
void read_plan_file(const std::filesystem::path& path, SweepPlan& plan);

}  // namespace mirrorscale::scenarios

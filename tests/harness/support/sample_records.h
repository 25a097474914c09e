#pragma once
#include "harness/record/record.h"

#include <string>

namespace mirrorscale::harness {

/// Small records that keep every promise; tests change one thing at a time.
inline RunRecord sample_run(const std::string& run_id = "run-1") {
  RunRecord run;
  run.run_id = run_id;
  run.started = "2024-06-07T09:30:00Z";
  run.command = {"mirrorscale", "sweep", "--devices", "1,2"};
  run.version = "0.1.0";
  run.git_revision = "unknown";
  run.plan.axes = {{"devices", {std::int64_t{1}, std::int64_t{2}}}, {"optimizer", {std::string("adam")}}};
  run.plan.settings = {{"budget_s", 2.5}, {"synthetic", false}};
  run.plan_fingerprint = "9c5d1b7e20a4f386";
  run.machine_fingerprint = "51e0a7c2d9b8f643";
  run.environment.host = "node-a";
  run.environment.cores = 2;
  run.environment.backend = "cpu";
  run.environment.target = "AVX2";
  run.environment.targets = {"AVX2"};
  run.environment.libraries = {{"hwloc", "2.9.0"}};
  run.environment.variables = {{"OMP_NUM_THREADS", "1"}};
  return run;
}

inline Measurement sample_measurement() {
  Measurement measurement;
  measurement.slices = 2;
  measurement.steps_per_slice = 2;
  measurement.steps = 4;
  measurement.warmup_steps = 12;
  measurement.stop_reason = StopReason::kBudget;
  measurement.step_p50_s = 0.1;
  measurement.step_p95_s = 0.2;
  measurement.step_min_s = 0.05;
  measurement.samples_per_s = {100.0 / 3, 30, 40};
  measurement.speedup = Interval{1.5, 1.25, 1.75};
  measurement.efficiency = Interval{0.75, 0.625, 0.875};
  measurement.base_key = "n=1";
  measurement.phases_s.forward = 0.04;
  measurement.slice_samples_per_s = {30, 40};
  measurement.slice_start_s = {0.5, 1.5};
  measurement.step_s = {0.1, 0.1, 0.05, 0.2};
  return measurement;
}

inline CellRecord sample_cell(const std::string& cell_key = "n=2", const std::string& run_id = "run-1") {
  CellRecord cell;
  cell.run_id = run_id;
  cell.cell_key = cell_key;
  cell.workload = "mlp";
  cell.dataset = "synthetic";
  cell.synthetic = true;
  cell.strategy = "mirrored";
  cell.reduction = "fused";
  cell.devices = {"cpu:0", "cpu:1"};
  cell.replicas = 2;
  cell.global_batch = 7;
  cell.local_batch = 4;
  cell.scaling = Scaling::kWeak;
  cell.optimizer = "adam";
  cell.seed = 18446744073709551615u;
  cell.backend = "cpu";
  cell.target = "AVX2";
  cell.parameters = 10;
  cell.flops_per_sample = 60;
  cell.status = CellStatus::kOk;
  cell.checks = {passed("ONE", "w: 10 values equal in every bit"), skipped("COV", "one step only")};
  cell.weight_hash = "8f14e45fceea167a";
  cell.memory = {1000, 2000};
  cell.measurement = sample_measurement();
  return cell;
}

/// The same cell after a failed check.
inline CellRecord failed_cell(const std::string& cell_key = "n=2") {
  CellRecord cell = sample_cell(cell_key);
  cell.status = CellStatus::kFailed;
  cell.checks.push_back(failed("MIR", "replica 1 differs"));
  cell.reason = "MIR: replica 1 differs";
  cell.measurement.reset();
  return cell;
}

}  // namespace mirrorscale::harness

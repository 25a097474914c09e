#include "scenarios/sweep/table.h"

#include "harness/output/format.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace mirrorscale::scenarios {
namespace {

constexpr double kShareTold = 0.1;  // fewer disturbed steps are in the record, and not worth a line

}  // namespace

std::string trouble_mark(const harness::CellRecord& cell) {
  if (cell.status == harness::CellStatus::kFailed) return "FAILED";
  if (cell.status == harness::CellStatus::kSkipped) return "SKIPPED";
  if (cell.reason_kind == harness::ReasonKind::kOutOfMemory) return "OUT OF MEMORY";
  if (cell.reason_kind == harness::ReasonKind::kDisturbed) return "DISTURBED";
  return cell.reason_kind == harness::ReasonKind::kDeviceFailed ? "DEVICE FAILED" : "ERROR";
}

std::string check_mark(const harness::CellRecord& cell) {
  if (cell.status == harness::CellStatus::kError || cell.status == harness::CellStatus::kSkipped) {
    return trouble_mark(cell);
  }
  std::string failures;
  for (const auto& check : cell.checks) {
    if (check.outcome == harness::Outcome::kFailed)
      failures += (failures.empty() ? "FAIL " : ",") + check.invariant;
  }
  return failures.empty() ? "ok" : failures;
}

harness::Table cell_table(std::span<const harness::CellRecord> cells) {
  std::set<std::string> workloads, optimizers;
  std::set<std::uint64_t> seeds;
  for (const auto& cell : cells) {
    workloads.insert(cell.workload);
    optimizers.insert(cell.optimizer);
    seeds.insert(cell.seed);
  }
  std::vector<harness::Column> columns;
  if (workloads.size() > 1) columns.push_back({"workload", harness::Align::kLeft});
  if (optimizers.size() > 1) columns.push_back({"optimizer", harness::Align::kLeft});
  if (seeds.size() > 1) columns.push_back({"seed"});
  for (const char* title : {"scaling", "devices", "global batch", "local batch", "step p50 ms", "step p95 ms",
                            "samples/s", "speed-up", "efficiency [low, high]"}) {
    columns.push_back({title});
  }
  columns.push_back({"check", harness::Align::kLeft});
  harness::Table table(columns);
  for (const auto& cell : cells) {
    std::vector<std::string> row;
    if (workloads.size() > 1) row.push_back(cell.workload);
    if (optimizers.size() > 1) row.push_back(cell.optimizer);
    if (seeds.size() > 1) row.push_back(std::to_string(cell.seed));
    row.emplace_back(harness::to_word(cell.scaling));
    row.push_back(std::to_string(cell.replicas) + (cell.oversubscribed ? "*" : ""));
    row.push_back(std::to_string(cell.global_batch));
    row.push_back(std::to_string(cell.local_batch));
    if (cell.measurement && cell.emulated) {
      row.insert(row.end(), {"emulated", "emulated", "emulated", "-", "-"});
    } else if (cell.measurement) {
      const harness::Measurement& m = *cell.measurement;
      row.push_back(harness::format_ms(m.step_p50_s));
      row.push_back(harness::format_ms(m.step_p95_s));
      row.push_back(harness::format_count(m.samples_per_s.value));
      char speedup[32] = "-";
      if (m.speedup) std::snprintf(speedup, sizeof speedup, "%.2f", m.speedup->value);
      row.emplace_back(speedup);
      row.push_back(m.efficiency ? harness::format_interval(*m.efficiency) : "-");
    } else {
      row.insert(row.end(), 5, "-");
    }
    row.push_back(check_mark(cell));
    table.add_row(std::move(row));
  }
  return table;
}

std::string disturbance_note(const harness::CellRecord& cell) {
  if (!cell.makes_claim() || !cell.measurement || !cell.measurement->clocks) return {};
  const harness::Measurement& m = *cell.measurement;
  const harness::Clocks& c = *m.clocks;
  const auto share = [&](std::int64_t steps) {
    return harness::format_percent(static_cast<double>(steps) / static_cast<double>(m.steps));
  };
  if (static_cast<double>(c.disturbed_steps) < kShareTold * static_cast<double>(m.steps)) return {};
  std::string note = share(c.disturbed_steps) + " of the steps were disturbed:";
  if (c.preempted_steps > 0) note += " preempted " + share(c.preempted_steps);
  if (c.throttled_steps > 0) note += " throttled " + share(c.throttled_steps);
  if (!c.core_wait_s_per_step.empty()) {
    note += "; a replica waited for a core for up to " +
            harness::format_seconds(std::ranges::max(c.core_wait_s_per_step)) + " a step (mean)";
  }
  if (c.steal_share) note += "; stolen by the hypervisor " + harness::format_percent(*c.steal_share);
  for (const harness::GpuClocks& gpu : c.gpus) {
    for (const std::string& reason : gpu.throttle_reasons) note += "; " + gpu.uuid + ": " + reason;
  }
  return note;
}

}  // namespace mirrorscale::scenarios

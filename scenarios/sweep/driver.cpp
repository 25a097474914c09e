#include "scenarios/sweep/driver.h"

#include "harness/gbench/gbench_json.h"
#include "harness/output/file.h"
#include "harness/output/progress.h"
#include "harness/record/environment.h"
#include "harness/record/json.h"
#include "harness/record/record_file.h"
#include "scenarios/exit_status.h"
#include "scenarios/sweep/measure.h"
#include "scenarios/sweep/run_record.h"
#include "scenarios/sweep/table.h"
#include "scenarios/validation/invariants.h"
#include "scenarios/workloads/data_source.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace mirrorscale::scenarios {
namespace {

int batch_of(const CellSpec& cell) {
  return cell.scaling == harness::Scaling::kStrong ? cell.global_batch : cell.local_batch();
}

/// A file continues one plan on one machine.
void check_continues(const harness::RecordFile& file, const harness::RunRecord& run) {
  if (file.records().runs.empty()) return;
  const harness::RunRecord& before = file.records().runs.back();
  if (before.git_revision != run.git_revision) {
    std::printf("note: %s was begun by another build (%s, now %s)\n", file.path().c_str(),
                before.git_revision.c_str(), run.git_revision.c_str());
  }
  if (before.plan_fingerprint != run.plan_fingerprint) {
    throw std::invalid_argument("[sweep] " + file.path().string() +
                                " holds another plan:\n  there: " + harness::canonical_text(before.plan) +
                                "\n  now:   " + harness::canonical_text(run.plan) +
                                "\nName another file with --records, or run the plan that it holds.");
  }
  if (before.machine_fingerprint != run.machine_fingerprint) {
    throw std::invalid_argument("[sweep] " + file.path().string() + " holds records of another machine (" +
                                before.environment.cpu_model + ", " + before.environment.target +
                                "); name another file with --records");
  }
}

bool finished(const harness::RecordFile& file, const CellSpec& cell) {
  const harness::CellRecord* record = file.find_cell(cell.key());
  return record != nullptr && (record->status != harness::CellStatus::kError ||
                               record->reason_kind == harness::ReasonKind::kOutOfMemory);
}

class SweepRun {
 public:
  SweepRun(const SweepPlan& plan, const SweepOutputs& outputs)
      : plan_(plan), run_(run_record(plan, outputs.command)), file_(outputs.records) {
    check_continues(file_, run_);
  }

  void run(const std::vector<CellGroup>& groups) {
    std::size_t done = 0, all = 0;
    for (const CellGroup& group : groups) {
      all += group.size();
      done += static_cast<std::size_t>(
          std::count_if(group.begin(), group.end(), [&](const CellSpec& c) { return finished(file_, c); }));
      for (const CellSpec& cell : group) {
        const harness::CellRecord* before = file_.find_cell(cell.key());
        if (before != nullptr && before->status == harness::CellStatus::kError && finished(file_, cell)) {
          no_room_for(cell);
        }
      }
    }
    if (done > 0) {
      std::printf("%zu of %zu cells are in %s already and are not run again\n", done, all,
                  file_.path().c_str());
    }
    if (done == all) return;
    // Nothing is measured before every group is known to make sense on its data.
    for (const CellGroup& group : groups) {
      describe(group.front(), run_.run_id, *load_data(group.front().data, group.front().seed).train);
    }
    for (std::size_t g = 0; g < groups.size() && broken_.empty(); ++g) {
      where_ = "group " + std::to_string(g + 1) + "/" + std::to_string(groups.size()) + " (" +
               groups[g].front().group() + "): ";
      run_group(groups[g]);
    }
    progress_.clear();
  }

  std::vector<harness::CellRecord> cells(const std::vector<CellGroup>& groups) const {
    std::vector<harness::CellRecord> records;
    for (const CellGroup& group : groups) {
      for (const CellSpec& cell : group) {
        if (const auto* record = file_.find_cell(cell.key())) records.push_back(*record);
      }
    }
    return records;
  }
  const harness::RunRecord& record() const { return run_; }
  /// Why it ended before its last cell: what became of a device. Empty where it didn't.
  const std::string& broken() const { return broken_; }

 private:
  void run_group(const CellGroup& group) {
    if (std::all_of(group.begin(), group.end(), [&](const CellSpec& c) { return finished(file_, c); }))
      return;
    const strategies::SplitDataset data = load_data(group.front().data, group.front().seed);
    Yardsticks yardsticks(data);
    std::vector<CellSpec> good;
    std::vector<harness::CellRecord> records;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const CellSpec& cell = group[i];
      if (finished(file_, cell)) {
        // Speed-up is taken between slices of the same minute: the base takes part again, and is not recorded
        // again.
        const harness::CellRecord& before = *file_.find_cell(cell.key());
        if (good.empty() && before.status == harness::CellStatus::kOk && !before.oversubscribed) {
          good.push_back(cell);
          records.emplace_back();
        }
        continue;
      }
      harness::CellRecord record = describe(cell, run_.run_id, *data.train);
      if (skip(cell, record) || !check(cell, yardsticks, record)) {
        append(record);
        if (!broken_.empty()) return;
        continue;
      }
      good.push_back(cell);
      records.push_back(std::move(record));
    }
    if (good.empty()) return;
    const std::vector<MeasuredCell> measured =
        measure_group(good, data.train,
                      {plan_.stopping, plan_.slice_s, plan_.most_disturbed, group.front().seed,
                       [&](const std::string& text) { progress_.update(where_ + text); }});
    for (std::size_t i = 0; i < good.size(); ++i) {
      if (records[i].cell_key.empty()) continue;
      records[i].memory.process_peak_bytes = harness::process_peak_bytes();
      if (measured[i].measurement) {
        records[i].status = harness::CellStatus::kOk;
        records[i].measurement = measured[i].measurement;
      } else if (measured[i].failure) {
        fail(good[i], *measured[i].failure, records[i]);
      } else {
        continue;  // not finished: the sweep that goes on will do it
      }
      append(records[i]);
    }
  }

  void fail(const CellSpec& cell, const CellFailure& failure, harness::CellRecord& record) {
    record.status = harness::CellStatus::kError;
    record.reason = failure.text;
    record.reason_kind = failure.kind;
    if (failure.kind == harness::ReasonKind::kOutOfMemory) no_room_for(cell);
    if (failure.kind == harness::ReasonKind::kDeviceFailed) broken_ = failure.text;
  }

  /// Larger batches with the same other settings won't fit either.
  void no_room_for(const CellSpec& cell) {
    const auto [at, is_new] = no_room_.emplace(cell.series(), batch_of(cell));
    if (!is_new) at->second = std::min(at->second, batch_of(cell));
  }
  /// True, and the record says why, where a smaller batch had no room already.
  bool skip(const CellSpec& cell, harness::CellRecord& record) const {
    const auto found = no_room_.find(cell.series());
    if (found == no_room_.end() || batch_of(cell) <= found->second) return false;
    record.status = harness::CellStatus::kSkipped;
    record.reason_kind = harness::ReasonKind::kOutOfMemory;
    record.reason = "batch " + std::to_string(found->second) +
                    " with the same settings ran out of memory; this one is larger";
    return true;
  }

  /// The run is written with its first cell: a sweep that did nothing leaves nothing that binds the next.
  void append(const harness::CellRecord& record) {
    if (!std::exchange(begun_, true)) file_.append(run_);
    file_.append(record);
  }

  /// Fills in the verdicts; false when the cell must not be measured.
  bool check(const CellSpec& cell, Yardsticks& yardsticks, harness::CellRecord& record) {
    progress_.update(where_ + "checking " + std::to_string(cell.devices) + " devices");
    try {
      CellVerdicts verdicts = validate_cell(cell, yardsticks);
      record.checks = std::move(verdicts.verdicts);
      record.weight_hash = std::move(verdicts.weight_hash);
      record.evaluation = std::move(verdicts.evaluation);
    } catch (const std::exception&) {
      fail(cell, failure_of(cell, *yardsticks.data().train), record);
      return false;
    }
    for (const auto& verdict : record.checks) {
      if (verdict.outcome != harness::Outcome::kFailed) continue;
      record.status = harness::CellStatus::kFailed;
      record.reason += (record.reason.empty() ? "" : "; ") + verdict.invariant + ": " + verdict.evidence;
    }
    return record.status != harness::CellStatus::kFailed;
  }

  const SweepPlan& plan_;
  harness::RunRecord run_;
  harness::RecordFile file_;
  harness::ProgressLine progress_;
  std::string where_;
  bool begun_ = false;
  std::map<std::string, int> no_room_;  // series of cells -> the smallest batch that ran out of memory
  std::string broken_;
};

/// Slices as Google Benchmark would have written them, from the records, so that a resumed sweep is whole.
std::vector<harness::CellTiming> timings_of(std::span<const harness::CellRecord> cells) {
  std::vector<harness::CellTiming> timings;
  for (const auto& cell : cells) {
    harness::CellTiming timing{cell.cell_key, 1, static_cast<double>(cell.global_batch), {}, cell.reason};
    if (cell.emulated && timing.error.empty()) timing.error = "emulated devices: times mean nothing";
    if (cell.measurement && !cell.emulated) {
      const harness::Measurement& m = *cell.measurement;
      timing.steps_per_slice = static_cast<int>(m.steps_per_slice);
      for (std::size_t i = 0; i < m.slice_samples_per_s.size(); ++i) {
        const double seconds =
            static_cast<double>(m.steps_per_slice * cell.global_batch) / m.slice_samples_per_s[i];
        timing.slices.push_back({static_cast<int>(i), m.slice_start_s[i], seconds, seconds});
      }
    }
    timings.push_back(std::move(timing));
  }
  return timings;
}

/// A line a cell that is not good, and what marks in the table mean. Returns whether there is such a cell.
bool tell_troubles(std::span<const harness::CellRecord> cells) {
  bool finding = false, starred = false, emulated = false;
  for (const auto& cell : cells) {
    starred = starred || cell.oversubscribed;
    emulated = emulated || cell.emulated;
    if (const std::string note = disturbance_note(cell); !note.empty()) {
      std::printf("note: %s: %s\n", cell.cell_key.c_str(), note.c_str());
    }
    if (cell.status == harness::CellStatus::kOk) continue;
    finding = true;
    std::printf("%s %s: %s\n", trouble_mark(cell).c_str(), cell.cell_key.c_str(), cell.reason.c_str());
  }
  if (starred) std::printf("* more devices than usable cores: checked, and no scaling claim\n");
  if (emulated) {
    std::printf(
        "emulated: these devices are stand-ins that run on the host; results are checked, times mean "
        "nothing\n");
  }
  return finding;
}

}  // namespace

int run_sweep(const SweepPlan& plan, const SweepOutputs& outputs) {
  const std::vector<CellGroup> groups = groups_of(plan);
  for (const auto& path : {outputs.csv, outputs.gbench_json}) {
    if (!path.empty()) harness::require_writable(path);
  }
  SweepRun sweep(plan, outputs);
  sweep.run(groups);
  const std::vector<harness::CellRecord> cells = sweep.cells(groups);
  const harness::Table table = cell_table(cells);
  std::printf("%s", table.to_text().c_str());
  const bool finding = tell_troubles(cells);
  std::printf("records: %s\n", outputs.records.c_str());
  if (!outputs.csv.empty()) harness::write_file_atomically(outputs.csv, table.to_csv());
  if (!outputs.gbench_json.empty()) {
    harness::write_gbench_json(outputs.gbench_json, timings_of(cells), sweep.record().environment,
                               outputs.command.empty() ? "mirrorscale" : outputs.command.front());
  }
  if (!sweep.broken().empty()) {
    std::size_t left = 0;
    for (const CellGroup& group : groups) left += group.size();
    throw std::runtime_error("[sweep] " + sweep.broken() + "; the sweep ended there: " +
                             std::to_string(left - cells.size()) + " of " + std::to_string(left) +
                             " cells were not attempted. See to the device, then run the same command "
                             "again: finished cells are kept, it goes on behind them.");
  }
  return finding ? kFinding : kGood;
}

}  // namespace mirrorscale::scenarios

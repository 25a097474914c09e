#pragma once
#include "harness/judge/paired_change.h"
#include "scenarios/compare/lockstep.h"
#include "scenarios/compare/plan.h"
#include "scenarios/compare/side_check.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// What was seen of one cell. A cell that wasn't timed has a reason and no restarts.
struct CellComparison {
  ComparedCell cell;
  SideCheck check_a, check_b;
  std::string reason;  // why it wasn't measured
  std::vector<Restart> restarts;

  bool check_failed() const { return !check_a.failures().empty() || !check_b.failures().empty(); }
  /// Whether both sides compute the same bits; empty where bits depend on more than the result (fast
  /// numerics).
  std::optional<bool> same_result() const {
    if (!check_a.exact || !check_b.exact) return std::nullopt;
    return check_a.weight_hash == check_b.weight_hash;
  }
};

/// Log ratios of B's time a row over A's: pairs in order of time, by restart.
std::vector<std::vector<double>> log_ratios(const CellComparison& cell, SliceClock clock);

/// Medians over all slices of a side, and how many were preempted.
struct SideTimes {
  double step_s = 0, cpu_step_s = 0;
  std::int64_t slices = 0, preempted = 0;
};
SideTimes times_of(const CellComparison& cell, bool side_a);

/// A measured cell, judged.
struct CellJudgement {
  SliceClock clock = SliceClock::kWall;  // the one that was judged
  harness::PairedChange wall, cpu;
  harness::JudgedChange judged;
  const harness::PairedChange& change() const { return clock == SliceClock::kCpu ? cpu : wall; }
};
/// Judges all measured cells together (Holm); empty for those that weren't measured.
std::vector<std::optional<CellJudgement>> judge_cells(const std::vector<CellComparison>& cells,
                                                      SliceClock clock, const harness::ChangeRule& rule);

}  // namespace mirrorscale::scenarios

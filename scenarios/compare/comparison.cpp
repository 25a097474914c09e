#include "scenarios/compare/comparison.h"

#include "harness/measure/summary.h"

#include <cmath>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

/// Wall time is what people wait for. CPU time is judged only where others took cores away in more slices
/// than this, and it is the quieter one. The choice knows counts and sizes, no signs, so that it can't favour
/// a verdict.
constexpr double kMostPreempted = 0.25;

double spread(const harness::PairedChange& change) {
  double sum = 0;
  for (const double r : change.restart_log_ratios) sum += r * r;
  return std::sqrt(sum);
}

SliceClock better_clock(const CellComparison& cell, const harness::PairedChange& wall,
                        const harness::PairedChange& cpu) {
  const SideTimes a = times_of(cell, true), b = times_of(cell, false);
  const bool crowded = static_cast<double>(a.preempted + b.preempted) >
                       kMostPreempted * static_cast<double>(a.slices + b.slices);
  return crowded && spread(cpu) < spread(wall) ? SliceClock::kCpu : SliceClock::kWall;
}

}  // namespace

std::vector<std::vector<double>> log_ratios(const CellComparison& cell, SliceClock clock) {
  const double rows = static_cast<double>(cell.cell.b.global_batch) / cell.cell.a.global_batch;
  std::vector<std::vector<double>> ratios;
  for (const Restart& restart : cell.restarts) {
    std::vector<double>& of_restart = ratios.emplace_back();
    for (const SlicePair& pair : restart.pairs) {
      const double ratio =
          clock == SliceClock::kCpu ? pair.b.cpu_s / pair.a.cpu_s : pair.b.seconds / pair.a.seconds;
      of_restart.push_back(std::log(ratio / rows));
    }
  }
  return ratios;
}

SideTimes times_of(const CellComparison& cell, bool side_a) {
  std::vector<double> steps, cpu_steps;
  SideTimes times;
  for (const Restart& restart : cell.restarts) {
    for (const SlicePair& pair : restart.pairs) {
      const TimedSlice& slice = side_a ? pair.a : pair.b;
      steps.push_back(slice.seconds / restart.steps_per_slice);
      cpu_steps.push_back(slice.cpu_s / restart.steps_per_slice);
      times.preempted += slice.preemptions > 0 ? 1 : 0;
    }
  }
  times.slices = static_cast<std::int64_t>(steps.size());
  times.step_s = harness::median(steps).value_or(0);
  times.cpu_step_s = harness::median(cpu_steps).value_or(0);
  return times;
}

std::vector<std::optional<CellJudgement>> judge_cells(const std::vector<CellComparison>& cells,
                                                      SliceClock clock, const harness::ChangeRule& rule) {
  std::vector<std::optional<CellJudgement>> judgements(cells.size());
  std::vector<harness::PairedChange> changes;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].restarts.empty()) continue;
    CellJudgement& j = judgements[i].emplace();
    j.wall = harness::paired_change(log_ratios(cells[i], SliceClock::kWall));
    j.cpu = harness::paired_change(log_ratios(cells[i], SliceClock::kCpu));
    j.clock = clock == SliceClock::kAuto ? better_clock(cells[i], j.wall, j.cpu) : clock;
    changes.push_back(j.change());
  }
  if (changes.empty()) return judgements;
  const std::vector<harness::JudgedChange> judged = harness::judge(changes, rule);
  auto next = judged.begin();
  for (auto& judgement : judgements) {
    if (judgement) judgement->judged = *next++;
  }
  return judgements;
}

}  // namespace mirrorscale::scenarios

#include "scenarios/compare/driver.h"

#include "harness/measure/clock.h"
#include "harness/output/file.h"
#include "harness/output/progress.h"
#include "scenarios/compare/report.h"
#include "scenarios/exit_status.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <stdexcept>
#include <sys/personality.h>

namespace mirrorscale::scenarios {
namespace {

constexpr double kShortestRestartS = 0.05;

/// Whether a new process gets addresses of its own.
bool random_layouts() {
  std::ifstream file("/proc/sys/kernel/randomize_va_space");
  int level = 2;
  file >> level;
  return level > 0 && (personality(0xffffffff) & ADDR_NO_RANDOMIZE) == 0;
}

void require_judgeable(const ComparePlan& plan) {
  harness::validate(plan.rule);
  const int fewest = fewest_restarts(plan.rule.alpha, plan.cells.size());
  if (plan.restarts < fewest) {
    throw std::invalid_argument(
        "[compare] " + std::to_string(plan.restarts) + " restarts of " + std::to_string(plan.cells.size()) +
        " cells can never be significant at alpha " + std::to_string(plan.rule.alpha) + "; give --restarts " +
        std::to_string(fewest) + " or more");
  }
  if (!(plan.restart_s >= kShortestRestartS) || !std::isfinite(plan.restart_s)) {
    throw std::invalid_argument("[compare] the budget leaves " + std::to_string(plan.restart_s) +
                                " s of slices for each restart of each cell; give a larger --budget");
  }
}

class CompareRun {
 public:
  explicit CompareRun(const ComparePlan& plan) : plan_(plan), random_(plan.seed) {}

  std::vector<CellComparison> run() {
    std::vector<CellComparison> cells;
    for (const ComparedCell& cell : plan_.cells) cells.push_back(checked(cell));
    // Round by round, so that what changes on the machine in minutes hits all cells.
    for (int r = 0; r < plan_.restarts; ++r) {
      for (CellComparison& cell : cells) {
        if (!cell.reason.empty()) continue;
        progress_.update("restart " + std::to_string(r + 1) + "/" + std::to_string(plan_.restarts) + ", " +
                         cell.cell.name);
        cell.restarts.push_back(
            run_restart({plan_.binary_a, plan_.binary_b, cell.cell.a, cell.cell.b, plan_.planted_b},
                        {.seconds = plan_.restart_s, .slice_s = plan_.slice_s}, random_));
      }
    }
    progress_.clear();
    return cells;
  }

 private:
  CellComparison checked(const ComparedCell& cell) {
    progress_.update("checking " + cell.name);
    CellComparison c{.cell = cell,
                     .check_a = check_side(plan_.binary_a, cell.a, "A"),
                     .check_b = {},
                     .reason = {},
                     .restarts = {}};
    const bool same = plan_.binary_a == plan_.binary_b && arguments_of(cell.a) == arguments_of(cell.b);
    c.check_b = same ? c.check_a : check_side(plan_.binary_b, cell.b, "B");
    for (const auto& [side, check] : {std::pair{"A", &c.check_a}, std::pair{"B", &c.check_b}}) {
      if (const std::string failures = check->failures(); !failures.empty())
        c.reason +=
            (c.reason.empty() ? "" : "; ") + std::string("side ") + side + " failed its check, " + failures;
    }
    if (c.reason.empty() && (c.check_a.emulated || c.check_b.emulated))
      c.reason = "emulated devices: checked, and not timed, since their times mean nothing";
    return c;
  }

  const ComparePlan& plan_;
  std::mt19937_64 random_;
  harness::ProgressLine progress_;
};

}  // namespace

int run_compare(const ComparePlan& plan, const CompareOutputs& outputs) {
  require_judgeable(plan);
  for (const auto& path : {outputs.json, outputs.markdown}) {
    if (!path.empty()) harness::require_writable(path);
  }
  const harness::SteadyClock clock;
  CompareReport report{.command = outputs.command,
                       .build_a = build_info(plan.binary_a, "A"),
                       .build_b = build_info(plan.binary_b, "B"),
                       .same_sides = plan.same_sides(),
                       .restarts = plan.restarts,
                       .restart_s = plan.restart_s,
                       .slice_s = plan.slice_s,
                       .rule = plan.rule,
                       .seed = plan.seed,
                       .planted_b = plan.planted_b,
                       .random_layouts = random_layouts(),
                       .cells = CompareRun(plan).run(),
                       .judgements = {}};
  report.judgements = judge_cells(report.cells, plan.clock, plan.rule);
  report.elapsed_s = clock.now_s();
  std::printf("%s", to_text(report).c_str());
  if (!outputs.json.empty()) harness::write_file_atomically(outputs.json, to_json(report));
  if (!outputs.markdown.empty()) harness::write_file_atomically(outputs.markdown, to_markdown(report));
  return report.worse() || report.check_failed() ? kFinding : kGood;
}

}  // namespace mirrorscale::scenarios

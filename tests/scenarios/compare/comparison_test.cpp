#include "scenarios/compare/comparison.h"

#include "scenarios/compare/report.h"

#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <random>

namespace mirrorscale::scenarios {
namespace {

/// Ten restarts of 20 pairs; B takes `change` longer, walls are `noise` apart and CPU times `cpu_noise`.
CellComparison cell(double change, double noise, double cpu_noise, int preemptions = 0) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  CellComparison c;
  c.cell.name = "toy";
  c.cell.a.global_batch = c.cell.b.global_batch = 64;
  for (int r = 0; r < 10; ++r) {
    Restart& restart = c.restarts.emplace_back();
    restart.steps_per_slice = 2;
    for (int i = 0; i < 20; ++i) {
      const auto slice = [&](double longer) {
        return TimedSlice{0.010 * (1 + longer) * std::exp(noise * normal(random)),
                          0.020 * (1 + longer) * std::exp(cpu_noise * normal(random)), preemptions};
      };
      restart.pairs.push_back({.a_first = i % 2 == 0, .a = slice(0), .b = slice(change)});
    }
  }
  return c;
}

harness::Change verdict(const CellComparison& c, SliceClock clock = SliceClock::kAuto) {
  return judge_cells({c}, clock, {})[0]->judged.verdict;
}

TEST(LogRatios, AreOfTheTimeARow) {
  CellComparison c = cell(0, 0, 0);
  EXPECT_DOUBLE_EQ(log_ratios(c, SliceClock::kWall)[9][19], 0);
  c.cell.b.global_batch = 128;  // as long for twice the rows
  EXPECT_DOUBLE_EQ(log_ratios(c, SliceClock::kWall)[0][0], std::log(0.5));
  EXPECT_NEAR(log_ratios(cell(0.1, 0, 0), SliceClock::kCpu)[0][0], std::log(1.1), 1e-12);
}

TEST(TimesOf, AreASidesMediansAndPreemptions) {
  CellComparison c = cell(0.5, 0, 0);
  c.restarts[0].pairs[3].b.preemptions = 2;
  EXPECT_DOUBLE_EQ(times_of(c, true).step_s, 0.005);
  EXPECT_DOUBLE_EQ(times_of(c, false).step_s, 0.0075);
  EXPECT_DOUBLE_EQ(times_of(c, false).cpu_step_s, 0.015);
  EXPECT_EQ(times_of(c, true).slices, 200);
  EXPECT_EQ(times_of(c, true).preempted, 0);
  EXPECT_EQ(times_of(c, false).preempted, 1);  // slices, not switches
}

TEST(JudgeCells, FindsWhatIsThereAndNothingElse) {
  EXPECT_EQ(verdict(cell(0.01, 0.005, 0.005)), harness::Change::kWorse);
  EXPECT_EQ(verdict(cell(-0.01, 0.005, 0.005)), harness::Change::kBetter);
  EXPECT_EQ(verdict(cell(0, 0.005, 0.005)), harness::Change::kSame);
  EXPECT_EQ(verdict(cell(0, 0.5, 0.5)), harness::Change::kAmbiguous);
}

// Wall times that others disturb say nothing; CPU time is judged then, and only then.
TEST(JudgeCells, TakesCpuTimeWhereOthersTookCoresAway) {
  const CellComparison loud = cell(0.01, 0.5, 0.004, 3);
  EXPECT_EQ(judge_cells({loud}, SliceClock::kAuto, {})[0]->clock, SliceClock::kCpu);
  EXPECT_EQ(verdict(loud), harness::Change::kWorse);
  EXPECT_EQ(verdict(loud, SliceClock::kWall), harness::Change::kAmbiguous);
  EXPECT_EQ(judge_cells({cell(0.01, 0.5, 0.004)}, SliceClock::kAuto, {})[0]->clock, SliceClock::kWall);
  EXPECT_EQ(judge_cells({cell(0, 0.004, 0.5, 3)}, SliceClock::kAuto, {})[0]->clock, SliceClock::kWall);
}

TEST(JudgeCells, ACellThatWasNotMeasuredHasNoJudgement) {
  CellComparison failed;
  failed.reason = "side B failed its check";
  const auto judgements = judge_cells({failed, cell(0, 0.005, 0.005)}, SliceClock::kAuto, {});
  EXPECT_FALSE(judgements[0]);
  EXPECT_TRUE(judgements[1]);
}

TEST(CellComparison, BitsAreComparedInExactNumericsOnly) {
  CellComparison c;
  EXPECT_EQ(c.same_result(), true);
  c.check_b.weight_hash = "other";
  EXPECT_EQ(c.same_result(), false);
  c.check_b.exact = false;
  EXPECT_EQ(c.same_result(), std::nullopt);
}

TEST(Report, SaysWhatAFindingIs) {
  CompareReport report;
  report.restarts = 10;
  report.cells = {cell(0.03, 0.003, 0.003)};
  report.cells[0].check_b.weight_hash = "other";
  report.judgements = judge_cells(report.cells, SliceClock::kAuto, report.rule);
  EXPECT_TRUE(report.worse());
  EXPECT_FALSE(report.check_failed());
  const std::string text = to_text(report);
  EXPECT_NE(text.find("WORSE"), std::string::npos) << text;
  EXPECT_NE(text.find("compute different results"), std::string::npos) << text;
  EXPECT_NE(to_markdown(report).find("**worse**"), std::string::npos);
  report.cells[0].restarts.clear();
  report.cells[0].reason = "side A failed its check, ONE: bits";
  report.cells[0].check_a.verdicts = {harness::failed("ONE", "bits")};
  report.judgements = judge_cells(report.cells, SliceClock::kAuto, report.rule);
  EXPECT_TRUE(report.check_failed());
  EXPECT_NE(to_text(report).find("CHECK FAILED"), std::string::npos);
}

}  // namespace
}  // namespace mirrorscale::scenarios

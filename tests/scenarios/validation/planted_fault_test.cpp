// The invariants see planted faults, and name the right one. Faults are parts handed to the engine.
#include "scenarios/validation/invariants.h"
#include "scenarios/workloads/data_source.h"
#include "scenarios/workloads/workload.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

CellSpec small_cell(int devices, const std::string& optimizer = "sgd:0.1") {
  CellSpec cell;
  cell.workload = "mlp-small";
  cell.data = "clusters";
  cell.optimizer = optimizer;
  cell.devices = devices;
  cell.global_batch = 48;
  return cell;
}

std::string failures(const std::vector<harness::Verdict>& verdicts) {
  std::string codes;
  for (const auto& v : verdicts) {
    if (v.outcome == harness::Outcome::kFailed) codes += (codes.empty() ? "" : " ") + v.invariant;
  }
  return codes;
}

std::string failures_with(const CellSpec& cell, const strategies::EngineParts& parts) {
  Yardsticks yardsticks(load_data(cell.data, cell.seed));
  return failures(validate_cell(cell, yardsticks, parts).verdicts);
}

/// Divides by the replicas once more.
class DividedTwice final : public strategies::LossNormaliser {
 public:
  float scale(float weight_sum, int replicas) const override {
    return 1.0F / weight_sum / static_cast<float>(replicas);
  }
};

/// Never divides.
class Summed final : public strategies::LossNormaliser {
 public:
  float scale(float, int) const override { return 1.0F / 24.0F; }
};

/// Gives replica 1 the rows of replica 0.
class SameShard final : public strategies::Sharder {
 public:
  strategies::BatchPlan plan(int rows, int full_batch, int replicas) const override {
    strategies::BatchPlan plan = strategies::plan_batch(rows, full_batch, replicas);
    if (replicas > 1 && plan.shares[0].rows.count == plan.shares[1].rows.count)
      plan.shares[1] = plan.shares[0];
    return plan;
  }
  std::vector<strategies::Range> split(int rows, int replicas) const override {
    return strategies::split_evenly(rows, replicas);
  }
};

/// The same order in every epoch is fine; the same row twice is not.
class RepeatedRow final : public strategies::Shuffler {
 public:
  std::vector<std::int64_t> order(std::int64_t rows, std::uint64_t seed, int epoch) const override {
    auto order = strategies::UniformShuffle().order(rows, seed, epoch);
    order.back() = order.front();
    return order;
  }
};

class EngineAsItIs : public testing::TestWithParam<int> {};

TEST_P(EngineAsItIs, HoldsEveryInvariant) {
  for (const char* optimizer : {"sgd:0.1", "adam", "nesterov", "adamw"}) {
    const CellSpec cell = small_cell(GetParam(), optimizer);
    EXPECT_EQ(failures_with(cell, parts_of(cell)), "") << optimizer;
  }
}

TEST(EngineOnEveryWorkload, HoldsEveryInvariant) {
  for (const char* workload : {"binary", "regression", "softmax-regression", "mlp-small"}) {
    CellSpec cell = small_cell(2);
    cell.workload = workload;
    cell.data =
        find_workload(workload).name == "softmax-regression" ? "clusters" : find_workload(workload).data;
    EXPECT_EQ(failures_with(cell, parts_of(cell)), "") << workload;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, EngineAsItIs, testing::Values(1, 2, 3, 5));

TEST(PlantedFault, MissingAllReduceBreaksMirrorsOneAndReference) {
  const CellSpec cell = small_cell(2);
  strategies::EngineParts parts = parts_of(cell);
  parts.make_reducer = strategies::local_reducer;
  // SHP too: a row is predicted by whichever replica gets it, and they are no copies any more.
  EXPECT_EQ(failures_with(cell, parts), "MIR ONE REF SHP");
}

TEST(PlantedFault, LossDividedTwiceBreaksOneAndReference) {
  const CellSpec cell = small_cell(2);
  strategies::EngineParts parts = parts_of(cell);
  parts.normaliser = std::make_shared<DividedTwice>();
  EXPECT_EQ(failures_with(cell, parts), "ONE REF");
}

TEST(PlantedFault, WrongScaleAlsoOnOneDeviceIsSeenByTheReferenceAlone) {
  // One device with the same fault would agree: only the independent trainer can see it.
  const CellSpec cell = small_cell(1);
  strategies::EngineParts parts = parts_of(cell);
  parts.normaliser = std::make_shared<Summed>();
  Yardsticks yardsticks(load_data(cell.data, cell.seed));
  const ShortRunData rows = short_run_data(yardsticks.data(), cell.global_batch);
  const ObservedRun faulty = run_short(cell, make_strategy(cell, parts), rows);
  EXPECT_EQ(check_one(faulty.run, faulty.run).outcome, harness::Outcome::kPassed);
  EXPECT_EQ(check_reference(yardsticks.oracle(cell), faulty.run).outcome, harness::Outcome::kFailed);
}

TEST(PlantedFault, DuplicatedShardIsNamedByShardsAndCoverage) {
  const CellSpec cell = small_cell(2);
  strategies::EngineParts parts = parts_of(cell);
  parts.sharder = std::make_shared<SameShard>();
  const std::string failed = failures_with(cell, parts);
  EXPECT_NE(failed.find("SHD COV"), std::string::npos) << failed;
}

TEST(PlantedFault, ARowTakenTwiceIsNamedByCoverage) {
  const CellSpec cell = small_cell(2);
  strategies::EngineParts parts = parts_of(cell);
  parts.shuffler = std::make_shared<RepeatedRow>();
  const std::string failed = failures_with(cell, parts);
  EXPECT_EQ(failed.substr(0, 3), "COV") << failed;
}

TEST(PlantedFault, SwappedPredictionRowsAreNamedByShape) {
  const CellSpec cell = small_cell(2);
  Yardsticks yardsticks(load_data(cell.data, cell.seed));
  const ShortRunData rows = short_run_data(yardsticks.data(), cell.global_batch);
  ObservedRun observed = run_short(cell, make_strategy(cell), rows);
  const std::vector<float> expected = yardsticks.row_by_row(cell, observed.run.weights);
  EXPECT_EQ(check_predictions(expected, observed.run, rows.test->rows()).outcome, harness::Outcome::kPassed);
  auto& values = observed.run.predictions.values;
  std::swap_ranges(values.begin(), values.begin() + observed.run.predictions.columns,
                   values.begin() + observed.run.predictions.columns);
  const harness::Verdict verdict = check_predictions(expected, observed.run, rows.test->rows());
  EXPECT_EQ(verdict.outcome, harness::Outcome::kFailed);
  EXPECT_EQ(verdict.invariant, "SHP");
}

TEST(PlantedFault, AMetricThatIsNotPooledIsSeen) {
  const CellSpec cell = small_cell(2);
  Yardsticks yardsticks(load_data(cell.data, cell.seed));
  const ShortRunData rows = short_run_data(yardsticks.data(), cell.global_batch);
  ObservedRun observed = run_short(cell, make_strategy(cell), rows);
  EXPECT_EQ(check_metrics(cell, observed.run, *rows.test).outcome, harness::Outcome::kPassed);
  observed.run.evaluation["loss"] *= 1.001;
  EXPECT_EQ(check_metrics(cell, observed.run, *rows.test).outcome, harness::Outcome::kFailed);
  observed.run.evaluation["loss"] /= 1.001;
  EXPECT_EQ(check_metrics(cell, observed.run, *rows.test).outcome, harness::Outcome::kPassed);
  observed.run.evaluation["accuracy"] /= 2;
  EXPECT_EQ(check_metrics(cell, observed.run, *rows.test).outcome, harness::Outcome::kFailed);
}

/// A step of `size` bounds in one weight.
ShortRun moved(ShortRun run, const Yardsticks::Oracle& oracle, double size) {
  run.weights[0].values[3] += static_cast<float>(size * oracle.weight_bounds[0][3]);
  return run;
}

TEST(FastNumerics, ADifferenceIsHeldToTheBoundsOfBothRuns) {
  const CellSpec cell = small_cell(2);
  Yardsticks yardsticks(load_data(cell.data, cell.seed));
  const ShortRun& run = yardsticks.one_device(cell);
  const Yardsticks::Oracle& oracle = yardsticks.oracle(cell);
  const harness::Verdict same = check_one_within(oracle, run, run);
  EXPECT_EQ(same.outcome, harness::Outcome::kPassed);
  EXPECT_NE(same.evidence.find("bound"), std::string::npos) << same.evidence;
  EXPECT_EQ(check_one_within(oracle, run, moved(run, oracle, 1.5)).outcome, harness::Outcome::kPassed);
  const harness::Verdict far = check_one_within(oracle, run, moved(run, oracle, 2.5));
  EXPECT_EQ(far.outcome, harness::Outcome::kFailed);
  EXPECT_EQ(far.invariant, "ONE");
  // A yardstick that is wrong itself says nothing.
  EXPECT_EQ(check_one_within(oracle, moved(run, oracle, 5), run).outcome, harness::Outcome::kSkipped);
  Yardsticks::Oracle none;
  none.why_not = "no such layer";
  EXPECT_EQ(check_one_within(none, run, run).outcome, harness::Outcome::kSkipped);
}

TEST(FastNumerics, CoarserFactorsHaveWiderBounds) {
  CellSpec cell = small_cell(1);
  Yardsticks yardsticks(load_data(cell.data, cell.seed));
  cell.backend = "cuda";  // for the oracle alone: nothing runs there
  cell.numerics = "fast";
  double before = 0;
  for (const char* precision : {"float32", "tf32", "bfloat16"}) {
    cell.precision = precision;
    const Yardsticks::Oracle& oracle = yardsticks.oracle(cell);
    ASSERT_EQ(oracle.why_not, "");
    EXPECT_GT(oracle.weight_bounds[0][3], 2 * before) << precision;
    before = oracle.weight_bounds[0][3];
  }
}

TEST(FastNumerics, PredictionsAreHeldToTheOracle) {
  CellSpec cell = small_cell(2);
  Yardsticks yardsticks(load_data(cell.data, cell.seed));
  ShortRun run = yardsticks.one_device(cell);
  const auto rows = static_cast<std::int64_t>(run.predictions.rows);
  const Yardsticks::Predicted expected = yardsticks.predictions(cell, run.weights);
  EXPECT_EQ(check_predictions_within(expected, run, rows).outcome, harness::Outcome::kPassed);
  auto& values = run.predictions.values;
  std::swap_ranges(values.begin(), values.begin() + run.predictions.columns,
                   values.begin() + run.predictions.columns);
  EXPECT_EQ(check_predictions_within(expected, run, rows).outcome, harness::Outcome::kFailed);
}

TEST(OtherBackend, OneBitIsEnough) {
  const CellSpec cell = small_cell(2);
  Yardsticks yardsticks(load_data(cell.data, cell.seed));
  const ShortRun& run = yardsticks.one_device(cell);
  EXPECT_EQ(check_other_backend(run, run).outcome, harness::Outcome::kPassed);
  ShortRun other = run;
  other.losses[1] = std::nextafter(other.losses[1], 0.0);
  const harness::Verdict verdict = check_other_backend(run, other);
  EXPECT_EQ(verdict.outcome, harness::Outcome::kFailed);
  EXPECT_EQ(verdict.invariant, "XBK");
  other = run;
  other.weight_hash = "0123456789abcdef";
  EXPECT_NE(check_other_backend(run, other).evidence.find("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace mirrorscale::scenarios

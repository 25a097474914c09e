#include "tests/support/golden.h"

#include "scenarios/oracle/trainer.h"
#include "tests/scenarios/oracle/golden_oracle.h"

#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace mirrorscale::tests {
namespace {

constexpr double kTolerance = 1e-10;

void expect_weights(const scenarios::oracle::Trainer& trainer,
                    const std::vector<std::vector<double>>& expected, const std::string& when) {
  ASSERT_EQ(trainer.weight_count(), expected.size());
  for (std::size_t a = 0; a < expected.size(); ++a) {
    const std::vector<double> actual = trainer.weights(a).values;
    ASSERT_EQ(actual.size(), expected[a].size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      ASSERT_NEAR(actual[i], expected[a][i], kTolerance) << when << ", array " << a << ", element " << i;
    }
  }
}

class OracleGolden : public testing::TestWithParam<std::string> {};

TEST_P(OracleGolden, GivesTheLossesAndWeightsOfKerasInFloat64) {
  const GoldenRun run = load_golden(GetParam());
  scenarios::oracle::Trainer trainer = golden_trainer(run);
  std::size_t step = 0;
  for (std::size_t epoch = 0; epoch < run.epochs; ++epoch) {
    for (std::size_t first = 0; first < run.rows; first += run.batch) {
      ASSERT_LT(step, run.loss.size());
      EXPECT_NEAR(trainer.step(golden_batch(run, first)).total().value, run.loss[step], kTolerance)
          << "step " << step;
      if (++step == 1) expect_weights(trainer, run.w1, "after one step");
    }
  }
  EXPECT_EQ(step, run.loss.size());
  expect_weights(trainer, run.wT, "at the end");
}

INSTANTIATE_TEST_SUITE_P(Runs, OracleGolden, testing::ValuesIn(golden_names()),
                         [](const auto& run) { return run.param; });

}  // namespace
}  // namespace mirrorscale::tests

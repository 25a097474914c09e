#include "harness/judge/holm.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

void expect_near(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-15) << "at " << i;
}

// On paper. Sorted: 0.005 * 4 = 0.02; 0.01 * 3 = 0.03; 0.03 * 2 = 0.06; 0.04 * 1 = 0.04, raised to 0.06.
TEST(HolmTest, FourTestsByHand) {
  expect_near(holm_adjusted(std::vector{0.01, 0.04, 0.03, 0.005}), {0.03, 0.06, 0.06, 0.02});
}

TEST(HolmTest, OneTestStaysAsItIs) {
  expect_near(holm_adjusted(std::vector{0.2}), {0.2});
}
TEST(HolmTest, NoTestsAreNone) {
  EXPECT_TRUE(holm_adjusted({}).empty());
}
TEST(HolmTest, NothingPassesOne) {
  expect_near(holm_adjusted(std::vector{0.6, 0.9, 1.0}), {1, 1, 1});
}
TEST(HolmTest, TiesGetOneValue) {
  expect_near(holm_adjusted(std::vector{0.01, 0.01, 0.5}), {0.03, 0.03, 0.5});
}

TEST(HolmTest, ValuesThatAreNoProbabilityAreRefused) {
  for (const double bad : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(holm_adjusted(std::vector{0.5, bad}), std::invalid_argument);
  }
}

TEST(HolmTest, NeverBelowTheRawValueNorAboveBonferroni) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 0.2);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> p(1 + static_cast<std::size_t>(round % 12));
    for (double& value : p) value = uniform(random);
    const std::vector<double> adjusted = holm_adjusted(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      EXPECT_GE(adjusted[i], p[i]);
      EXPECT_LE(adjusted[i], std::min(1.0, static_cast<double>(p.size()) * p[i]) + 1e-15);
      for (std::size_t j = 0; j < p.size(); ++j) {
        if (p[i] < p[j]) {
          EXPECT_LE(adjusted[i], adjusted[j]);
        }
      }
    }
  }
}

// 8 true null hypotheses, 20000 families: an alarm in at most 5 %, and not far below (1 - 0.99375^8 =
// 0.0489).
TEST(HolmTest, FamiliesOfNullsAlarmAtTheNominalRate) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  int alarms = 0;
  for (int family = 0; family < 20000; ++family) {
    std::vector<double> p(8);
    for (double& value : p) value = uniform(random);
    const std::vector<double> adjusted = holm_adjusted(p);
    alarms += std::ranges::min(adjusted) <= 0.05;
  }
  EXPECT_NEAR(alarms / 20000.0, 0.0489, 0.006);  // four standard errors
}

}  // namespace
}  // namespace mirrorscale::harness

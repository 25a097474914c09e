#include "harness/judge/shift_test.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

std::vector<LaunchValue> one_session(std::initializer_list<double> values) {
  std::vector<LaunchValue> launches;
  for (const double value : values) launches.push_back({value, 0});
  return launches;
}

// On paper: means 1 and 4; squares 2 and 2, pooled variance 4 / 2 = 2; standard error sqrt(2 (1/2 + 1/2)) =
// sqrt 2; two degrees; t = 3 / sqrt 2, p = (1 - t / sqrt(2 + t t)) / 2 = 0.083975.
TEST(ShiftTestTest, TwoAgainstTwoByHand) {
  const auto test = test_shift(one_session({0, 2}), one_session({3, 5}));
  ASSERT_TRUE(test);
  EXPECT_DOUBLE_EQ(test->shift, 3);
  EXPECT_DOUBLE_EQ(test->standard_error, std::sqrt(2));
  EXPECT_DOUBLE_EQ(test->degrees, 2);
  EXPECT_FALSE(test->by_session);
  EXPECT_NEAR(test->p_above(0), 0.083975, 1e-6);
  EXPECT_NEAR(test->p_below(0), 1 - 0.083975, 1e-6);
  EXPECT_DOUBLE_EQ(test->p_above(3), 0.5);  // at the estimate itself
}

// A noisier candidate: pooled 2 / 4 * (1/4 + 1/2) = 0.375; Welch 0 + 2 / 2 = 1 with one degree.
TEST(ShiftTestTest, TheLargerStandardErrorCounts) {
  const auto test = test_shift(one_session({0, 0, 0, 0}), one_session({1, 3}));
  ASSERT_TRUE(test);
  EXPECT_DOUBLE_EQ(test->standard_error, 1);
  EXPECT_DOUBLE_EQ(test->degrees, 1);
}

// Sessions 0 1 2 3 4, candidate 7: variance 2.5 (1/5 + 1) = 3, four degrees.
TEST(ShiftTestTest, FiveSessionsAreTheUnit) {
  std::vector<LaunchValue> baseline;
  for (int s = 0; s < 5; ++s) baseline.push_back({static_cast<double>(s), s});
  const auto test = test_shift(baseline, std::vector<LaunchValue>{{7, 9}});
  ASSERT_TRUE(test);
  EXPECT_TRUE(test->by_session);
  EXPECT_DOUBLE_EQ(test->shift, 5);
  EXPECT_DOUBLE_EQ(test->standard_error, std::sqrt(3));
  EXPECT_DOUBLE_EQ(test->degrees, 4);
  baseline.pop_back();
  EXPECT_FALSE(test_shift(baseline, std::vector<LaunchValue>{{7, 9}})->by_session);
}

// Sessions of two launches each (within: 0.5 about every mean, five degrees), one candidate launch: its own
// noise, 0.5 (1 - 1/2), comes on top.
TEST(ShiftTestTest, AShorterCandidateIsLessExact) {
  std::vector<LaunchValue> baseline;
  for (int s = 0; s < 5; ++s) {
    baseline.push_back({s - 0.5, s});
    baseline.push_back({s + 0.5, s});
  }
  const auto one = test_shift(baseline, std::vector<LaunchValue>{{7, 9}});
  const auto two = test_shift(baseline, std::vector<LaunchValue>{{7, 9}, {7, 9}});
  EXPECT_NEAR(one->standard_error * one->standard_error, 3 + 0.25, 1e-12);
  EXPECT_NEAR(two->standard_error * two->standard_error, 3, 1e-12);
}

TEST(ShiftTestTest, TooFewLaunchesHaveNoTest) {
  EXPECT_FALSE(test_shift(one_session({1}), one_session({2})));
  EXPECT_FALSE(test_shift(one_session({1, 2, 3}), {}));
  EXPECT_FALSE(test_shift({}, one_session({1, 2, 3})));
  EXPECT_TRUE(test_shift(one_session({1, 2}), one_session({1})));
}

TEST(ShiftTestTest, EqualValuesAreNoProofThatThereIsNoNoise) {
  const auto test = test_shift(one_session({1, 1, 1}), one_session({1.0005, 1.0005, 1.0005}));
  EXPECT_NEAR(test->standard_error, 0.001 * std::sqrt(2.0 / 3), 1e-12);
  EXPECT_GT(test->p_above(0), 0.2);
}

TEST(ShiftTestTest, NumbersThatAreNoneAreRefused) {
  EXPECT_THROW(test_shift(one_session({1, std::nan("")}), one_session({1})), std::invalid_argument);
  EXPECT_THROW(test_shift(one_session({1, 2}), one_session({INFINITY})), std::invalid_argument);
}

/// Share of 4000 comparisons without a change that a test at 1 % calls worse.
double alarms(int baseline_launches, int candidate_launches, double candidate_noise, int sessions) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  int found = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<LaunchValue> baseline, candidate;
    for (int s = 0; s < sessions; ++s) {
      const double state = sessions > 1 ? 0.05 * normal(random) : 0;
      for (int l = 0; l < baseline_launches; ++l) baseline.push_back({state + 0.01 * normal(random), s});
    }
    const double state = sessions > 1 ? 0.05 * normal(random) : 0;
    for (int l = 0; l < candidate_launches; ++l)
      candidate.push_back({state + candidate_noise * normal(random), sessions});
    found += test_shift(baseline, candidate)->p_above(0) <= 0.01;
  }
  return found / 4000.0;
}

TEST(ShiftTestTest, KeepsItsLevel) {
  const double slack = 4 * std::sqrt(0.01 * 0.99 / 4000);
  EXPECT_NEAR(alarms(5, 5, 0.01, 1), 0.01, slack);
  EXPECT_LT(alarms(10, 3, 0.03, 1), 0.01 + slack) << "a noisier machine today";
  EXPECT_NEAR(alarms(3, 3, 0.01, 8), 0.01, slack) << "drift from session to session";
  EXPECT_LT(alarms(5, 1, 0.01, 8), 0.01 + slack);
  // Why sessions: the same drift, four sessions, launches as units.
  EXPECT_GT(alarms(3, 3, 0.01, 4), 0.04);
}

TEST(ShiftTestTest, DetectableIsWhatIsDetected) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 0.02);
  int found = 0;
  double planted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<LaunchValue> baseline, candidate;
    for (int l = 0; l < 10; ++l) {
      baseline.push_back({normal(random), 0});
      candidate.push_back({normal(random) + planted, 0});
    }
    // Planned with the true noise: standard error 0.02 sqrt(1/5), 18 degrees.
    if (round == 0) planted = ShiftTest{0, 0.02 * std::sqrt(0.2), 18}.detectable(0.03, 0.001, 0.9);
    found += round > 0 && test_shift(baseline, candidate)->p_above(0.03) <= 0.001;
  }
  EXPECT_NEAR(found / 3999.0, 0.9, 0.03);
}

}  // namespace
}  // namespace mirrorscale::harness

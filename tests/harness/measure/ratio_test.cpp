#include "harness/measure/ratio.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

using Values = std::vector<double>;

TEST(MedianInterval, ConstantDataHaveNoWidth) {
  EXPECT_EQ(*median_interval(Values(20, 3.0)), (Interval{3, 3, 3}));
}

TEST(MedianInterval, FewValuesGiveTheRange) {
  EXPECT_EQ(*median_interval(Values{3, 1, 2}), (Interval{2, 1, 3}));
  EXPECT_EQ(*median_interval(Values{5, 1, 2, 4, 3}), (Interval{3, 1, 5}));
  EXPECT_FALSE(median_interval(Values{1}));
  EXPECT_FALSE(median_interval(Values{}));
}

TEST(MedianInterval, RepeatsExactlyAndDependsOnTheSeedOnly) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(100, 5);
  Values values(200);
  for (double& value : values) value = noise(random);
  const Interval first = *median_interval(values);
  EXPECT_EQ(first, *median_interval(values));
  EXPECT_LT(first.low, first.value);
  EXPECT_GT(first.high, first.value);
  // Asymptotic standard error of a normal median: sigma * sqrt(pi / 2n) = 0.443; 1.96 of it to each side.
  EXPECT_NEAR(first.high - first.low, 2 * 1.96 * 0.443, 0.9);
  EXPECT_NEAR(median_interval(values, {.seed = 2})->low, first.low, 0.4);
}

// Pairs (2, 1), (4, 2), ... share the disturbance of their round, so that their ratio is known exactly.
TEST(PairedRatio, WhatDisturbsARoundCancels) {
  Values one, two;
  std::mt19937_64 random(5);
  std::lognormal_distribution<double> drift(0, 0.5);
  for (int i = 0; i < 50; ++i) {
    const double machine = drift(random);
    one.push_back(100 * machine);
    two.push_back(180 * machine);
  }
  const Interval ratio = *paired_ratio_interval(two, one);
  EXPECT_NEAR(ratio.value, 1.8, 1e-12);
  EXPECT_NEAR(ratio.low, 1.8, 1e-12);
  EXPECT_NEAR(ratio.high, 1.8, 1e-12);
  // Unpaired, the same data say little.
  EXPECT_GT(median_interval(two)->relative_half_width(), 0.05);
}

TEST(PairedRatio, MedianOfPairRatiosIsTheEstimate) {
  EXPECT_DOUBLE_EQ(paired_ratio_interval(Values{2, 9, 4}, Values{1, 1, 1})->value, 4);
  EXPECT_DOUBLE_EQ(paired_ratio_interval(Values{2, 8}, Values{1, 1})->value, 4) << "the middle of logs";
}

TEST(PairedRatio, TurnedRoundItIsTheReciprocal) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> noise(0.9, 1.1);
  Values a(41), b(41);
  for (double& value : a) value = noise(random);
  for (double& value : b) value = 2 * noise(random);
  const Interval there = *paired_ratio_interval(a, b), back = *paired_ratio_interval(b, a);
  EXPECT_NEAR(there.value * back.value, 1, 1e-12);
  EXPECT_NEAR(there.low * back.high, 1, 0.02);
}

TEST(Ratio, MisuseIsRefused) {
  EXPECT_THROW(paired_ratio_interval(Values{1, 2}, Values{1}), std::invalid_argument);
  EXPECT_THROW(paired_ratio_interval(Values{1, 0}, Values{1, 1}), std::invalid_argument);
  EXPECT_THROW(median_interval(Values{1, std::numeric_limits<double>::infinity()}), std::invalid_argument);
  EXPECT_THROW(median_interval(Values{1, 2}, {.confidence = 1}), std::invalid_argument);
  EXPECT_THROW(median_interval(Values{1, 2}, {.resamples = 10}), std::invalid_argument);
  EXPECT_THROW(median_interval(Values{1, 2}, {.block = -1}), std::invalid_argument);
}

/// Share of runs whose interval holds the true ratio 1; noise of neighbouring rounds correlated by
/// `correlation`.
double coverage(std::size_t slices, double correlation, int block) {
  constexpr int kRuns = 400;
  std::mt19937_64 random(11);
  std::student_t_distribution<double> noise(3);  // heavy tails, as step times have
  int covered = 0;
  for (int run = 0; run < kRuns; ++run) {
    Values ratio(slices), one(slices, 1.0);
    double state = noise(random);
    for (double& value : ratio) {
      state = correlation * state + std::sqrt(1 - correlation * correlation) * noise(random);
      value = std::exp(0.02 * state);
    }
    const Interval interval = *paired_ratio_interval(
        ratio, one, {.resamples = 400, .seed = static_cast<std::uint64_t>(run), .block = block});
    covered += interval.low <= 1 && interval.high >= 1 ? 1 : 0;
  }
  return static_cast<double>(covered) / kRuns;
}

// 400 runs: the standard error of a share of 0.95 is 0.011.
TEST(Coverage, IndependentSlices) {
  EXPECT_GE(coverage(6, 0, 0), 0.93);
  EXPECT_GE(coverage(12, 0, 0), 0.925);
  EXPECT_GE(coverage(30, 0, 0), 0.915);
  const double many = coverage(100, 0, 0);
  EXPECT_GE(many, 0.905);
  EXPECT_LE(many, 0.985) << "an interval that is much too wide is wrong as well";
}

TEST(Coverage, CorrelatedSlicesNeedTheBlocks) {
  const double plain = coverage(200, 0.7, 1), blocked = coverage(200, 0.7, 0);
  EXPECT_LT(plain, 0.75);
  EXPECT_GE(blocked, 0.82);
}

TEST(CorrelationBlock, OneForIndependentMoreForCorrelated) {
  std::mt19937_64 random(13);
  std::normal_distribution<double> noise;
  Values independent(300), correlated(300);
  double state = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    independent[i] = noise(random);
    state = 0.9 * state + noise(random);
    correlated[i] = state;
  }
  EXPECT_LE(correlation_block(independent), 4);
  EXPECT_GE(correlation_block(correlated), 10);
  EXPECT_EQ(correlation_block(Values(50, 1.0)), 1);
  Values alternating;
  for (int i = 0; i < 60; ++i) alternating.push_back(i % 2);
  EXPECT_LE(correlation_block(alternating), 20);
}

}  // namespace
}  // namespace mirrorscale::harness

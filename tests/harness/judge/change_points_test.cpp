#include "harness/judge/change_points.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

std::vector<double> steps(std::initializer_list<std::pair<int, double>> levels, double noise,
                          unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 1);
  std::vector<double> series;
  for (const auto& [count, level] : levels) {
    for (int i = 0; i < count; ++i) series.push_back(level + noise * normal(random));
  }
  return series;
}

// 000111 with at least three on each side has one split; of the 20 ways to lay three ones, 2 part as well, so
// that the exact p value is 0.1.
TEST(ChangePointsTest, SixPointsByEnumeration) {
  const std::vector<double> series{0, 0, 0, 1, 1, 1};
  const auto found = change_points(series, {.alpha = 0.2, .permutations = 9999});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].index, 3u);
  EXPECT_NEAR(found[0].p, 0.1, 4 * std::sqrt(0.1 * 0.9 / 9999));
  EXPECT_EQ(found[0].before, 0);
  EXPECT_EQ(found[0].after, 1);
  EXPECT_TRUE(change_points(series).empty()) << "0.1 is not 0.01: six points prove nothing";
}

TEST(ChangePointsTest, TwoStepsAreFoundWhereTheyAre) {
  const auto found = change_points(steps({{15, 0}, {15, 1}, {15, 0.4}}, 0.05));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].index, 15u);
  EXPECT_EQ(found[1].index, 30u);
  EXPECT_NEAR(found[0].after, 1, 0.1);
  EXPECT_NEAR(found[1].after, 0.4, 0.1);
}

TEST(ChangePointsTest, ASpikeIsNoChange) {
  std::vector<double> series = steps({{20, 0}}, 0.01);
  series[10] = 5;
  EXPECT_TRUE(change_points(series).empty());
}

TEST(ChangePointsTest, ConstantAndShortSeriesHaveNone) {
  EXPECT_TRUE(change_points(std::vector<double>(50, 1.0)).empty());
  EXPECT_TRUE(change_points(std::vector<double>{1, 2, 3, 4, 5}).empty());
  EXPECT_TRUE(change_points({}).empty());
}

// A side without any spread would have no variance to divide by; here it is an ordinary case.
TEST(ChangePointsTest, ASideWithoutSpread) {
  std::vector<double> series(12, 1.0);
  for (const double value : {2.0, 2.1, 1.9, 2.0, 2.1, 2.05}) series.push_back(value);
  const auto found = change_points(series);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].index, 12u);
}

TEST(ChangePointsTest, NoiseAlarmsAtTheNominalRate) {
  int alarms = 0;
  for (unsigned seed = 1; seed <= 600; ++seed) {
    alarms += !change_points(steps({{20, 0}}, 1, seed), {.alpha = 0.05, .permutations = 199}).empty();
  }
  EXPECT_NEAR(alarms / 600.0, 0.05, 4 * std::sqrt(0.05 * 0.95 / 600));
}

TEST(ChangePointsTest, EqualSeedEqualAnswer) {
  const auto series = steps({{10, 0}, {10, 1}}, 0.3);
  const auto a = change_points(series), b = change_points(series);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].p, b[i].p);
}

TEST(ChangePointsTest, Misuse) {
  const std::vector<double> series{1, 2, 3, 4, std::nan(""), 6};
  EXPECT_THROW(change_points(series), std::invalid_argument);
  EXPECT_THROW(change_points({}, {.shortest_segment = 1}), std::invalid_argument);
  EXPECT_THROW(change_points({}, {.permutations = 1}), std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::harness

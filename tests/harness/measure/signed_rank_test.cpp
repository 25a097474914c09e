#include "harness/measure/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

using Values = std::vector<double>;

// Three values, all positive: of the 8 choices of signs one gives the sum 6.
TEST(SignedRank, AllPositiveIsOneChoiceOfSigns) {
  const SignedRank test = signed_rank(Values{0.5, 1, 2});
  EXPECT_EQ(test.positive_sum, 6);
  EXPECT_DOUBLE_EQ(test.p_above, 1.0 / 8);
  EXPECT_DOUBLE_EQ(test.p_below, 1);
  EXPECT_DOUBLE_EQ(least_signed_rank_p(3), 1.0 / 8);
}

// Ranks 1 -2 3 4: sums of 8 or more are {1,3,4} = 8, {2,3,4} = 9, {1,2,3,4} = 10: 3 of 16.
TEST(SignedRank, CountsTheChoicesFurtherOut) {
  const SignedRank test = signed_rank(Values{1, -2, 3, 4});
  EXPECT_EQ(test.positive_sum, 8);
  EXPECT_DOUBLE_EQ(test.p_above, 3.0 / 16);
  EXPECT_DOUBLE_EQ(test.p_below, 14.0 / 16);  // all but 9 and 10
}

// 1, 1, -2: ranks 1.5, 1.5, 3. Sums: 0, 1.5 (twice), 3 (the pair; or the third alone), 4.5 (twice), 6.
TEST(SignedRank, TiesShareARankAndZerosAreLeftOut) {
  const SignedRank test = signed_rank(Values{0, 1, 1, -2, 0});
  EXPECT_EQ(test.used, 3u);
  EXPECT_EQ(test.positive_sum, 3);
  EXPECT_DOUBLE_EQ(test.p_above, 5.0 / 8);
  EXPECT_DOUBLE_EQ(test.p_below, 5.0 / 8);
  EXPECT_EQ(signed_rank(Values{0, 0}).p_above, 1);
  EXPECT_EQ(signed_rank(Values{}).used, 0u);
}

/// The same by trying all signs.
double p_by_trying_all(const Values& values) {
  const double seen = signed_rank(values).positive_sum;
  int as_far = 0;
  const int all = 1 << values.size();
  for (int signs = 0; signs < all; ++signs) {
    Values flipped;
    for (std::size_t i = 0; i < values.size(); ++i)
      flipped.push_back(std::abs(values[i]) * ((signs >> i & 1) != 0 ? 1 : -1));
    as_far += signed_rank(flipped).positive_sum >= seen ? 1 : 0;
  }
  return static_cast<double>(as_far) / all;
}

TEST(SignedRank, IsWhatTryingAllSignsGives) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> small(-4, 5);
  for (int run = 0; run < 40; ++run) {
    Values values;
    while (values.size() < 9) {
      if (const int v = small(random); v != 0) values.push_back(v);
    }
    EXPECT_DOUBLE_EQ(signed_rank(values).p_above, p_by_trying_all(values));
  }
}

// Tables have 10 / 1024 for a sum of 5 or less of ten values (and 0.0098 as the 1 % point).
TEST(SignedRank, HasTheValuesOfTheTables) {
  EXPECT_DOUBLE_EQ(signed_rank(Values{-1, -2, -3, -4, 5, -6, -7, -8, -9, -10}).p_below, 10.0 / 1024);
}

TEST(SignedRank, BothWaysAgreeWhereTheyMeet) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0.1, 1);
  Values values;
  for (std::size_t i = 0; i <= kExactSignedRank; ++i) values.push_back(noise(random));
  const SignedRank beyond = signed_rank(values);
  values.pop_back();
  const SignedRank exact = signed_rank(values);
  EXPECT_TRUE(exact.exact);
  EXPECT_FALSE(beyond.exact);
  EXPECT_NEAR(beyond.p_above, exact.p_above, 0.02);
  EXPECT_NEAR(beyond.p_below, exact.p_below, 0.02);
}

TEST(SignedRank, RefusesWhatIsNoNumber) {
  EXPECT_THROW(signed_rank(Values{1, std::numeric_limits<double>::quiet_NaN()}), std::invalid_argument);
}

// Pair means of 1, 2, 6: 1, 1.5, 2, 3.5, 4, 6.
TEST(HodgesLehmann, IsTheMedianOfPairMeans) {
  EXPECT_EQ(*hodges_lehmann(Values{6, 1, 2}), (Interval{2.75, 1, 6}));
  EXPECT_FALSE(hodges_lehmann(Values{1}));
}

// Ten values: tables cut 8 pair means off each end for 95 % (P(sum <= 8) = 25 / 1024).
TEST(HodgesLehmann, CutsOffWhatTheTestRejects) {
  Values values;
  for (int i = 0; i < 10; ++i) values.push_back(std::pow(2.0, i));
  Values means;
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t j = i; j < 10; ++j) means.push_back((values[i] + values[j]) / 2);
  }
  std::sort(means.begin(), means.end());
  const Interval interval = *hodges_lehmann(values);
  EXPECT_EQ(interval.low, means[8]);
  EXPECT_EQ(interval.high, means[means.size() - 9]);
  EXPECT_NEAR(signed_rank(Values(values)).p_above, 1.0 / 1024, 1e-12);
}

TEST(HodgesLehmann, HoldsTheTruthAsOftenAsItSays) {
  std::mt19937_64 random(13);
  std::student_t_distribution<double> noise(3);
  int held = 0;
  constexpr int kRuns = 2000;
  for (int run = 0; run < kRuns; ++run) {
    Values values;
    for (int i = 0; i < 10; ++i) values.push_back(0.3 + noise(random));
    const Interval interval = *hodges_lehmann(values);
    held += interval.low <= 0.3 && 0.3 <= interval.high ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(held) / kRuns, 0.951, 0.02);  // 1 - 2 * 25 / 1024
}

// Of many values the pair means are counted instead of listed: the same numbers.
TEST(HodgesLehmann, CountsWhereThereAreTooManyToList) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> noise;
  Values values(601), means;
  for (double& value : values) value = noise(random);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) means.push_back((values[i] + values[j]) / 2);
  }
  std::sort(means.begin(), means.end());
  EXPECT_DOUBLE_EQ(*median_of_pair_means(values), means[means.size() / 2]);
  const Interval interval = *hodges_lehmann(values);
  EXPECT_TRUE(
      std::any_of(means.begin(), means.end(), [&](double m) { return std::abs(m - interval.low) < 1e-14; }));
  EXPECT_NEAR(interval.high - interval.low, 2 * 1.96 * 1.0233 / std::sqrt(601), 0.02);
  EXPECT_DOUBLE_EQ(*median_of_pair_means(Values(700, 3.5)), 3.5);
}

// 0 and 3, the second twice as unsure: their mean, weighted 2 to 1, is 1; the median of 0, 1, 3.
TEST(HodgesLehmann, WeighsByScales) {
  EXPECT_DOUBLE_EQ(hodges_lehmann(Values{0, 3}, 0.95, Values{1, 2})->value, 1);
  EXPECT_THROW(hodges_lehmann(Values{0, 3}, 0.95, Values{1}), std::invalid_argument);
  EXPECT_THROW(hodges_lehmann(Values{0, 3}, 0.95, Values{1, 0}), std::invalid_argument);
}

// The interval holds exactly what the test of values over their scales doesn't reject.
TEST(HodgesLehmann, WithScalesItTurnsTheTestRound) {
  std::mt19937_64 random(19);
  std::normal_distribution<double> noise(0.2, 1);
  for (int run = 0; run < 50; ++run) {
    Values values, scales;
    for (int i = 0; i < 10; ++i) {
      scales.push_back(0.1 * std::pow(1.5, i));
      values.push_back(noise(random) * scales.back());
    }
    const Interval interval = *hodges_lehmann(values, 0.95, scales);
    const auto p_at = [&](double theta) {
      Values residuals;
      for (std::size_t i = 0; i < 10; ++i) residuals.push_back((values[i] - theta) / scales[i]);
      const SignedRank test = signed_rank(residuals);
      return std::min(test.p_above, test.p_below);
    };
    const double inside = 1e-9 * (interval.high - interval.low);
    EXPECT_GT(p_at(interval.low + inside), 0.025);
    EXPECT_LE(p_at(interval.low - inside), 0.025);
    EXPECT_GT(p_at(interval.high - inside), 0.025);
    EXPECT_LE(p_at(interval.high + inside), 0.025);
  }
}

TEST(HodgesLehmann, RefusesOptionsOutOfRange) {
  EXPECT_THROW(hodges_lehmann(Values{1, 2}, 1), std::invalid_argument);
  EXPECT_THROW(hodges_lehmann(Values{1, std::numeric_limits<double>::infinity()}), std::invalid_argument);
  EXPECT_FALSE(median_of_pair_means(Values{}));
}

}  // namespace
}  // namespace mirrorscale::harness

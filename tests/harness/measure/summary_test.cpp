#include "harness/measure/summary.h"

#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

using Values = std::vector<double>;

TEST(Quantile, LinearBetweenOrderStatistics) {
  const Values values{40, 10, 30, 20};
  EXPECT_DOUBLE_EQ(*quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(*quantile(values, 1), 40);
  EXPECT_DOUBLE_EQ(*quantile(values, 0.5), 25);
  EXPECT_DOUBLE_EQ(*quantile(values, 0.25), 17.5);  // position 0.75 between 10 and 20
  EXPECT_DOUBLE_EQ(*quantile(Values{7}, 0.3), 7);
}

TEST(Quantile, NothingIsNotZero) {
  EXPECT_FALSE(quantile(Values{}, 0.5));
  EXPECT_FALSE(median(Values{}));
  EXPECT_FALSE(median_absolute_deviation(Values{}));
  EXPECT_FALSE(summarize(Values{}));
}

TEST(Quantile, MisuseIsRefused) {
  EXPECT_THROW(quantile(Values{1}, -0.1), std::invalid_argument);
  EXPECT_THROW(quantile(Values{1}, 1.1), std::invalid_argument);
  EXPECT_THROW(median(Values{1, std::numeric_limits<double>::quiet_NaN()}), std::invalid_argument);
}

TEST(MedianAbsoluteDeviation, KnownData) {
  // Median of 1 1 2 2 4 6 9 is 2, deviations 1 1 0 0 2 4 7, their median 1.
  EXPECT_DOUBLE_EQ(*median_absolute_deviation(Values{1, 1, 2, 2, 4, 6, 9}), 1);
}

TEST(Summarize, KnownData) {
  Values values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  const Summary summary = *summarize(values);
  EXPECT_EQ(summary.samples, 101u);
  EXPECT_DOUBLE_EQ(summary.min_s, 0);
  EXPECT_DOUBLE_EQ(summary.p05_s, 5);
  EXPECT_DOUBLE_EQ(summary.median_s, 50);
  EXPECT_DOUBLE_EQ(summary.p95_s, 95);
  EXPECT_DOUBLE_EQ(summary.max_s, 100);
  EXPECT_DOUBLE_EQ(summary.mean_s, 50);
  EXPECT_DOUBLE_EQ(summary.mad_s, 25);
  EXPECT_DOUBLE_EQ(summary.spread(), 1.8);
}

}  // namespace
}  // namespace mirrorscale::harness

#include "strategies/input/synthetic.h"

#include "tests/strategies/input/rows_of.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

using Floats = std::vector<float>;

std::vector<std::int64_t> first(std::int64_t rows) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

TEST(Clusters, LieAroundTheirCentres) {
  const SplitDataset data =
      make_clusters({.rows = {4000, 1000}, .features = 5, .classes = 3, .seed = 1, .noise = 0.5F});
  EXPECT_TRUE(data.train->synthetic());
  EXPECT_EQ(data.train->rows(), 4000);
  EXPECT_EQ(data.test->rows(), 1000);
  EXPECT_EQ(data.test->classes(), 3);
  const Floats values = features_of(*data.train, first(4000)),
               test_values = features_of(*data.test, first(1000));
  const auto labels = labels_of(*data.train, first(4000)), test_labels = labels_of(*data.test, first(1000));
  for (int label = 0; label < 3; ++label) {
    for (std::size_t f = 0; f < 5; ++f) {
      double sum = 0, squares = 0, count = 0, test_sum = 0, test_count = 0;
      for (std::size_t row = 0; row < 4000; ++row) {
        if (labels[row] != label) continue;
        const double value = values[row * 5 + f];
        sum += value, squares += value * value, ++count;
      }
      for (std::size_t row = 0; row < 1000; ++row) {
        if (test_labels[row] == label) test_sum += test_values[row * 5 + f], ++test_count;
      }
      EXPECT_NEAR(count, 4000.0 / 3, 120);  // four standard deviations
      const double mean = sum / count;
      EXPECT_NEAR(std::sqrt(squares / count - mean * mean), 0.5, 0.06);
      EXPECT_NEAR(test_sum / test_count, mean, 0.15) << "test rows have the centres of the training rows";
    }
  }
  EXPECT_NE(Floats(values.begin(), values.begin() + 100),
            Floats(test_values.begin(), test_values.begin() + 100));
}

TEST(Clusters, DoNotDependOnHowMuchIsMade) {
  const Clusters small = {.rows = {10, 0}, .features = 6, .classes = 4, .seed = 9};
  Clusters large = small, other = small;
  large.rows = {100, 5};
  other.seed = 10;
  const DatasetPtr few = make_clusters(small).train;
  EXPECT_EQ(make_clusters(small).test, nullptr);
  EXPECT_EQ(features_of(*few, first(10)), features_of(*make_clusters(large).train, first(10)));
  EXPECT_EQ(labels_of(*few, first(10)), labels_of(*make_clusters(large).train, first(10)));
  EXPECT_NE(features_of(*few, first(10)), features_of(*make_clusters(other).train, first(10)));
  Clusters wide = small;
  wide.features = 9;
  const Floats narrow_row = features_of(*few, {3}), wide_row = features_of(*make_clusters(wide).train, {3});
  EXPECT_EQ(narrow_row, Floats(wide_row.begin(), wide_row.begin() + 6));
}

TEST(Line, IsThreeTimesX) {
  const SplitDataset data = make_line({1000, 2}, 7);
  const Floats x = features_of(*data.train, first(1000)), y = targets_of(*data.train, first(1000));
  // The first rows from a few lines of Python integers.
  EXPECT_EQ(Floats(x.begin(), x.begin() + 3),
            (Floats{4037199 * 0x1p-24F, 15211306 * 0x1p-24F, 5857358 * 0x1p-24F}));
  EXPECT_EQ(features_of(*data.test, {0, 1}), (Floats{2700532 * 0x1p-24F, 3657225 * 0x1p-24F}));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], 3 * x[i]);
  EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.0) / 1000, 0.5, 0.04);
}

TEST(IdentityRows, HoldTheirNumber) {
  const DatasetPtr data = make_identity_rows(100, 3, 2);
  EXPECT_EQ(features_of(*data, {0, 42, 99}), (Floats{0, 0, 0, 42, 42, 42, 99, 99, 99}));
  EXPECT_EQ(targets_of(*data, {42}), (Floats{42, 42}));
  EXPECT_THROW(make_identity_rows(std::int64_t{1} << 24, 1, 1), std::invalid_argument);
}

TEST(FashionTwin, HasTheseVeryPixels) {
  const SplitDataset data = make_fashion_twin({12, 3}, 7);
  EXPECT_EQ(data.train->features(), 784);
  EXPECT_EQ(data.train->classes(), 10);
  EXPECT_EQ(labels_of(*data.train, first(12)), (std::vector<int>{4, 5, 5, 2, 3, 4, 7, 6, 2, 3, 0, 9}));
  const Floats rows = features_of(*data.train, {0, 1});
  const std::vector<std::vector<int>> fronts = {{83, 221, 255, 248, 198, 221}, {149, 0, 110, 222, 255, 186}};
  const int sums[] = {99489, 103105};
  for (std::size_t row = 0; row < 2; ++row) {
    int sum = 0;
    for (std::size_t f = 0; f < 784; ++f) {
      const int pixel = static_cast<int>(std::lround(rows[row * 784 + f] * 255));
      if (f < 6) {
        EXPECT_EQ(pixel, fronts[row][f]);
      }
      sum += pixel;
    }
    EXPECT_EQ(sum, sums[row]);
  }
  EXPECT_NE(features_of(*data.test, {0}), features_of(*data.train, {0}));
}

TEST(Synthetic, RefusesImpossibleSizes) {
  EXPECT_THROW(make_clusters({.rows = {0, 0}}), std::invalid_argument);
  EXPECT_THROW(make_clusters({.rows = {1, -1}}), std::invalid_argument);
  EXPECT_THROW(make_clusters({.rows = {1, 0}, .features = 0}), std::invalid_argument);
  EXPECT_THROW(make_clusters({.rows = {1, 0}, .classes = 0}), std::invalid_argument);
  EXPECT_THROW(make_clusters({.rows = {1, 0}, .noise = std::nanf("")}), std::invalid_argument);
  EXPECT_THROW(make_line({0, 1}, 1), std::invalid_argument);
  EXPECT_THROW(make_identity_rows(4, 1, 0), std::invalid_argument);
  EXPECT_THROW(make_fashion_twin({-1, 0}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::strategies

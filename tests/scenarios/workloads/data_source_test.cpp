#include "scenarios/workloads/data_source.h"

#include "kernels/buffer.h"
#include "scenarios/workloads/labels_as_targets.h"
#include "strategies/input/data_error.h"
#include "strategies/input/idx.h"
#include "strategies/input/synthetic.h"

#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

/// The values of one column of features or targets.
using Copy = void (strategies::Dataset::*)(std::span<const std::int64_t>, kernels::Matrix) const;
std::vector<float> column_of(const strategies::Dataset& data, Copy copy, int columns, int column) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(data.rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  const int count = static_cast<int>(rows.size());
  const auto memory = kernels::make_buffer(kernels::activation_size(count, columns));
  const kernels::Matrix values{memory.get(), count, columns, kernels::activation_stride(count)};
  (data.*copy)(rows, values);
  std::vector<float> found;
  for (int r = 0; r < count; ++r) found.push_back(values.at(r, column));
  return found;
}

TEST(LoadData, EverySyntheticSourceLoads) {
  for (const DataSourceInfo& source : data_sources()) {
    if (source.name == "fashion-mnist") continue;  // not on every machine
    const strategies::SplitDataset data = load_data(source.name, 1);
    EXPECT_TRUE(data.train->synthetic()) << source.name;
    EXPECT_TRUE((data.train->classes() > 0) != (data.train->target_columns() > 0)) << source.name;
    EXPECT_FALSE(source.description.empty()) << source.name;
  }
}

TEST(LoadData, NamesAreDifferent) {
  std::set<std::string> names;
  for (const DataSourceInfo& source : data_sources())
    EXPECT_TRUE(names.insert(source.name).second) << source.name;
}

TEST(LoadData, TheSameSourceAndSeedIsLoadedOnce) {
  EXPECT_EQ(load_data("line", 1).train, load_data("line", 1).train);
  EXPECT_NE(load_data("line", 1).train, load_data("line", 2).train);
}

TEST(LoadData, TheSeedMakesTheRows) {
  const auto features = [](std::uint64_t seed) {
    return column_of(*load_data("clusters", seed).train, &strategies::Dataset::copy_features, 20, 3);
  };
  EXPECT_NE(features(1), features(2));
}

TEST(LoadData, ALineIsThreeTimesItsInput) {
  const auto data = load_data("line", 1).test;
  const auto x = column_of(*data, &strategies::Dataset::copy_features, 1, 0);
  const auto y = column_of(*data, &strategies::Dataset::copy_targets, 1, 0);
  ASSERT_EQ(x.size(), 256u);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], 3 * x[i]);
}

TEST(LoadData, FashionMnistAsDebianPackagesIt) {
  if (!strategies::find_fashion_mnist()) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const strategies::SplitDataset data = load_data("fashion-mnist", 1);
  EXPECT_EQ(data.train->rows(), 60000);
  EXPECT_EQ(data.test->rows(), 10000);
  EXPECT_EQ(data.train->features(), 784);
  EXPECT_EQ(data.train->classes(), 10);
  EXPECT_FALSE(data.train->synthetic());
}

TEST(LoadData, AWordThatIsNoSourceIsMisuse) {
  try {
    load_data("cifar", 1);
    FAIL() << "there is no such source";
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    for (const DataSourceInfo& source : data_sources()) {
      EXPECT_NE(message.find(source.name), std::string::npos) << message;
    }
  }
}

TEST(LoadData, FilesThatAreNotThereAreDataErrors) {
  for (const char* source : {"/no/such/folder", "/no/such.npz", "no-such.npz", "/no/x.npy,/no/y.npy"}) {
    EXPECT_THROW(load_data(source, 1), strategies::DataError) << source;
  }
}

TEST(LabelsAsTargets, HandsOutZerosAndOnes) {
  const auto base = strategies::make_clusters({.rows = {50, 0}, .features = 3, .classes = 2}).train;
  const auto data = labels_as_targets(base, "binary");
  std::vector<std::int64_t> rows(50);
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  std::vector<int> labels(50);
  base->copy_labels(rows, labels.data());
  const auto targets = column_of(*data, &strategies::Dataset::copy_targets, 1, 0);
  EXPECT_EQ(std::vector<float>(labels.begin(), labels.end()), targets);
  EXPECT_EQ(std::set<float>(targets.begin(), targets.end()), (std::set<float>{0, 1}));
  EXPECT_EQ(data->classes(), 0);
  EXPECT_EQ(data->target_columns(), 1);
  EXPECT_EQ(column_of(*data, &strategies::Dataset::copy_features, 3, 2),
            column_of(*base, &strategies::Dataset::copy_features, 3, 2));
}

TEST(LabelsAsTargets, RefusesMoreThanTwoClasses) {
  EXPECT_THROW(labels_as_targets(strategies::make_clusters({.rows = {5, 0}}).train, "x"),
               std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::scenarios

#include "scenarios/workloads/data_source.h"

#include "kernels/buffer.h"
#include "scenarios/workloads/labels_as_targets.h"
#include "strategies/input/data_error.h"
#include "strategies/input/idx.h"
#include "strategies/input/synthetic.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

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

/// A file that goes with its test.
struct TextFile {
  explicit TextFile(const std::string& text) : path(std::filesystem::temp_directory_path() / name()) {
    std::ofstream(path, std::ios::binary) << text;
  }
  ~TextFile() { std::filesystem::remove(path); }
  static std::string name() { return "mirrorscale_data_source_test_" + std::to_string(::getpid()) + ".txt"; }
  const std::filesystem::path path;
};

TEST(Text, IsCutInWindowsOfBytesWithTheNextByteAsLabel) {
  std::string letters;
  for (int i = 0; i < 63; ++i) letters += static_cast<char>('!' + i);
  letters += static_cast<char>(0xff);
  const TextFile file(letters);
  const strategies::SplitDataset data = load_data("text:" + file.path.string() + "@3", 1);
  EXPECT_EQ(data.train->rows(), 19) << "21 windows, of which a tenth is for the test";
  EXPECT_EQ(data.test->rows(), 2);
  EXPECT_EQ(data.train->features(), 3);
  EXPECT_EQ(data.train->classes(), 256);
  EXPECT_EQ(data.train->labels_per_row(), 3);
  EXPECT_FALSE(data.train->synthetic());
  EXPECT_EQ(column_of(*data.train, &strategies::Dataset::copy_features, 3, 2)[4], '!' + 4 * 3 + 2);
  EXPECT_EQ(column_of(*data.test, &strategies::Dataset::copy_features, 3, 0)[1], '!' + 60);
  const std::vector<std::int64_t> rows{1, 0};
  std::vector<int> labels(6);
  data.test->copy_labels(rows, labels.data());
  EXPECT_EQ(labels, (std::vector<int>{'!' + 61, '!' + 62, 255, '!' + 58, '!' + 59, '!' + 60}));
}

TEST(Text, TooShortMissingOrBadlyCutIsRefusedInWords) {
  const auto refused = [](const std::string& source, const std::vector<std::string>& parts) {
    try {
      load_data(source, 1);
      ADD_FAILURE() << source << " is taken";
    } catch (const std::exception& error) {
      for (const std::string& part : parts)
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  const TextFile file("short");
  refused("text:" + file.path.string(), {"5 bytes", "at least 257"});
  refused("text:" + file.path.string() + "@x", {"'x'", "no number of bytes"});
  refused("text:" + file.path.string() + "@0", {"windows of 0 bytes"});
  refused("text:/nowhere/at/all", {"/nowhere/at/all"});
}

TEST(MakeTokens, FollowARuleMostOfTheTime) {
  const auto data = load_data("tokens-small", 1).train;
  std::vector<std::int64_t> rows(100);
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  std::vector<int> labels(rows.size() * 20);
  data->copy_labels(rows, labels.data());
  int followed = 0;
  for (std::size_t i = 0; i + 1 < labels.size(); ++i) followed += (5 * labels[i] + 7) % 40 == labels[i + 1];
  EXPECT_NEAR(followed, 0.756 * 1999, 100);
}

}  // namespace
}  // namespace mirrorscale::scenarios

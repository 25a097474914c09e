#include "strategies/input/array_dataset.h"

#include "strategies/input/subset.h"
#include "tests/strategies/input/rows_of.h"
#include "tests/strategies/input/temp_folder.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Floats = std::vector<float>;
using Rows = std::vector<std::int64_t>;

/// Three rows of two features with labels 1, 0, 2.
ArrayContents toy() {
  ArrayContents contents;
  contents.name = "toy";
  contents.features = 2;
  contents.values = Floats{1, 2, 3, 4, 5, 6};
  contents.labels = {1, 0, 2};
  return contents;
}

std::string refused(ArrayContents contents) {
  return refusal([&] { ArrayDataset data(std::move(contents)); });
}

TEST(ArrayDataset, CopiesRowsInTheOrderAskedFor) {
  const ArrayDataset data(toy());
  EXPECT_EQ(data.rows(), 3);
  EXPECT_EQ(data.classes(), 3);
  EXPECT_EQ(data.target_columns(), 0);
  EXPECT_FALSE(data.weighted());
  EXPECT_EQ(features_of(data, {2, 0, 2}), (Floats{5, 6, 1, 2, 5, 6}));
  EXPECT_EQ(labels_of(data, {2, 0, 2}), (std::vector<int>{2, 1, 2}));
  EXPECT_EQ(features_of(data, {}), Floats{});
}

TEST(ArrayDataset, CopiesTargetsAndWeights) {
  ArrayContents contents = toy();
  contents.labels.clear();
  contents.target_columns = 1;
  contents.targets = {7, 8, 9};
  contents.weights = {0, 0.5F, 1};
  const ArrayDataset data(contents);
  EXPECT_EQ(data.classes(), 0);
  EXPECT_EQ(targets_of(data, {1, 2}), (Floats{8, 9}));
  EXPECT_EQ(weights_of(data, {2, 1}), (Floats{1, 0.5F}));
  EXPECT_THROW(labels_of(data, {0}), std::logic_error);
}

TEST(ArrayDataset, DividesBytesExactly) {
  ArrayContents contents;
  contents.name = "bytes";
  contents.features = 1;
  std::vector<std::uint8_t> bytes(256);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  contents.values = bytes;
  Rows all(256);
  std::iota(all.begin(), all.end(), std::int64_t{0});
  const Floats pixels = features_of(ArrayDataset(contents), all);
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(pixels[static_cast<std::size_t>(byte)], static_cast<float>(byte) / 255.0F);
  }
  contents.byte_divisor = 1;
  EXPECT_EQ(features_of(ArrayDataset(contents), {200}), Floats{200});
}

TEST(ArrayDataset, FillsPanelsOfEveryWidth) {
  for (int columns = 1; columns <= 50; ++columns) {
    for (const bool as_bytes : {false, true}) {
      constexpr int kRows = 5;
      ArrayContents contents;
      contents.name = "wide";
      contents.features = columns;
      contents.byte_divisor = 1;
      Floats floats(static_cast<std::size_t>(kRows * columns));
      for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(i % 251);
      if (as_bytes) {
        contents.values = std::vector<std::uint8_t>(floats.begin(), floats.end());
      } else {
        contents.values = floats;
      }
      const ArrayDataset data(contents);
      const Rows rows = {4, 3, 2, 1, 0};
      const Panels x(kRows, columns);
      data.copy_features(rows, x.matrix());
      for (int r = 0; r < kRows; ++r) {
        for (int c = 0; c < columns; ++c) {
          ASSERT_EQ(x.matrix().at(r, c), floats[static_cast<std::size_t>((kRows - 1 - r) * columns + c)]);
        }
        // Padding is finite, and nothing beyond the rows is touched.
        for (int c = columns; c < kernels::panels(columns) * kernels::kPanel; ++c)
          ASSERT_EQ(x.matrix().at(r, c), 0);
      }
      ASSERT_EQ(x.matrix().at(kRows, 0), Panels::kUntouched);
    }
  }
}

TEST(ArrayDataset, RefusesSizesThatDoNotFit) {
  ArrayContents contents = toy();
  contents.values = Floats{1, 2, 3};
  EXPECT_THAT(refused(contents),
              AllOf(HasSubstr("toy: found 3 values"), HasSubstr("whole rows of 2 features")));
  contents.values = Floats{};
  EXPECT_THAT(refused(contents), HasSubstr("found 0 rows"));
  contents = toy();
  contents.features = 0;
  EXPECT_THAT(refused(contents), HasSubstr("0 features"));
  contents = toy();
  contents.labels.pop_back();
  EXPECT_THAT(refused(contents), AllOf(HasSubstr("found 2 labels"), HasSubstr("expected 3 labels")));
  contents = toy();
  contents.weights = {1, 1};
  EXPECT_THAT(refused(contents), HasSubstr("found 2 sample weights"));
  contents = toy();
  contents.targets = {1, 2, 3};
  contents.target_columns = 1;
  EXPECT_THAT(refused(contents), HasSubstr("labels and targets"));
  contents.labels.clear();
  contents.target_columns = 2;
  EXPECT_THAT(refused(contents), AllOf(HasSubstr("found 3 targets"), HasSubstr("expected 6 targets")));
  contents.target_columns = 0;
  EXPECT_THAT(refused(contents), HasSubstr("targets in 0 columns"));
}

TEST(ArrayDataset, RefusesLabelsOutOfRange) {
  ArrayContents contents = toy();
  contents.classes = 2;
  EXPECT_THAT(refused(contents), AllOf(HasSubstr("label 2 in row 2"), HasSubstr("expected 0 .. 1")));
  contents = toy();
  contents.labels[1] = -1;
  EXPECT_THAT(refused(contents), HasSubstr("label -1 in row 1"));
  contents.labels = {-1, -1, -1};
  EXPECT_THAT(refused(contents), HasSubstr("label -1 in row 0"));
  contents = toy();
  contents.classes = 5;
  EXPECT_EQ(ArrayDataset(contents).classes(), 5);
}

TEST(ArrayDataset, RefusesWhatIsNotFinite) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    ArrayContents contents = toy();
    contents.values_source = "x.npy";
    std::get<Floats>(contents.values)[3] = bad;
    EXPECT_THAT(refused(contents),
                AllOf(HasSubstr("x.npy: found "), HasSubstr("in row 1, column 1 of the features")));
    contents = toy();
    contents.labels.clear();
    contents.target_columns = 1;
    contents.targets = {0, 0, bad};
    EXPECT_THAT(refused(contents), HasSubstr("in row 2, column 0 of the targets"));
    contents = toy();
    contents.weights = {bad, 1, 1};
    EXPECT_THAT(refused(contents), HasSubstr("in row 0, column 0 of the sample weights"));
  }
  ArrayContents contents = toy();
  contents.weights = {1, -2, 1};
  EXPECT_THAT(refused(contents), HasSubstr("in row 1"));
}

TEST(ArrayDataset, RefusesRowsAndMatricesThatDoNotExist) {
  const ArrayDataset data(toy());
  EXPECT_THROW(features_of(data, {3}), std::invalid_argument);
  EXPECT_THROW(features_of(data, {-1}), std::invalid_argument);
  EXPECT_THROW(labels_of(data, {0, 3}), std::invalid_argument);
  EXPECT_THROW(weights_of(data, {0}), std::logic_error);
  EXPECT_THROW(targets_of(data, {0}), std::logic_error);
  const Panels narrow(1, 1), tall(2, 2);
  EXPECT_THROW(data.copy_features(Rows{0}, narrow.matrix()), std::invalid_argument);
  EXPECT_THROW(data.copy_features(Rows{0}, tall.matrix()), std::invalid_argument);
}

TEST(Subset, IsTheRowsOfItsList) {
  ArrayContents contents = toy();
  contents.weights = {10, 20, 30};
  const auto base = std::make_shared<ArrayDataset>(contents);
  const Subset part(base, {2, 0});
  EXPECT_EQ(part.rows(), 2);
  EXPECT_EQ(part.name(), "toy");
  EXPECT_EQ(part.classes(), 3);  // of the base, though label 0 is gone
  EXPECT_TRUE(part.weighted());
  EXPECT_EQ(features_of(part, {1, 0}), (Floats{1, 2, 5, 6}));
  EXPECT_EQ(labels_of(part, {1, 0}), (std::vector<int>{1, 2}));
  EXPECT_EQ(weights_of(part, {1, 0}), (Floats{10, 30}));
  EXPECT_THROW(labels_of(part, {2}), std::invalid_argument);
  EXPECT_THROW(labels_of(part, {-1}), std::invalid_argument);
  EXPECT_THROW(Subset(base, {}), std::invalid_argument);
  EXPECT_THROW(Subset(base, {3}), std::invalid_argument);
}

TEST(Subset, CopiesMoreRowsThanItTranslatesAtATime) {
  ArrayContents contents;
  contents.name = "numbers";
  contents.features = 17;
  contents.target_columns = 1;
  Floats values;
  for (int row = 0; row < 1000; ++row) {
    values.insert(values.end(), 17, static_cast<float>(row));
    contents.targets.push_back(static_cast<float>(-row));
  }
  contents.values = values;
  Rows backwards(1000), all(1000);
  std::iota(all.begin(), all.end(), std::int64_t{0});
  std::iota(backwards.rbegin(), backwards.rend(), std::int64_t{0});
  const Subset part(std::make_shared<ArrayDataset>(contents), backwards);
  const Panels x(1000, 17), t(1000, 1);
  part.copy_features(all, x.matrix());
  part.copy_targets(all, t.matrix());
  for (int row = 0; row < 1000; ++row) {
    ASSERT_EQ(x.matrix().at(row, 0), static_cast<float>(999 - row));
    ASSERT_EQ(x.matrix().at(row, 16), static_cast<float>(999 - row));
    ASSERT_EQ(t.matrix().at(row, 0), static_cast<float>(row - 999));
  }
  contents.target_columns = 0;
  contents.targets.clear();
  for (int row = 0; row < 1000; ++row) {
    contents.labels.push_back(row);
    contents.weights.push_back(static_cast<float>(row));
  }
  const Subset labelled(std::make_shared<ArrayDataset>(contents), backwards);
  const auto labels = labels_of(labelled, all);
  const Floats weights = weights_of(labelled, all);
  for (std::size_t row = 0; row < 1000; ++row) {
    ASSERT_EQ(labels[row], static_cast<int>(999 - row));
    ASSERT_EQ(weights[row], static_cast<float>(999 - row));
  }
  const Panels low(999, 17);
  EXPECT_THROW(part.copy_features(all, low.matrix()), std::invalid_argument);
}

TEST(FirstRows, IsAPrefixOrTheWhole) {
  const auto base = std::make_shared<ArrayDataset>(toy());
  EXPECT_EQ(first_rows(base, 2)->rows(), 2);
  EXPECT_EQ(labels_of(*first_rows(base, 2), {0, 1}), (std::vector<int>{1, 0}));
  EXPECT_EQ(first_rows(base, 3), base);
  EXPECT_EQ(first_rows(base, 100), base);
  EXPECT_THROW(first_rows(base, 0), std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::strategies

#pragma once
#include "kernels/random.h"
#include "strategies/input/array_dataset.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Small data sets of random or given numbers.
namespace mirrorscale::strategies::testing {

struct DataShape {
  int rows = 0, features = 0;
  int classes = 0;         // labels, or
  int target_columns = 0;  // targets
  bool weighted = false;
  bool zero_or_one = false;  // the targets
  std::uint64_t seed = 1;
};

inline float random_unit(std::uint64_t seed, std::uint32_t stream, std::size_t index) {
  return kernels::to_unit_float(kernels::random_words(seed, kernels::Purpose::kTest, stream, index)[0]);
}

/// Features in [-1, 1); labels cover 0 .. classes - 1; targets in [-1, 1) or {0, 1}; weights in [0.25, 2.25),
/// one of them 0.
inline DatasetPtr random_data(const DataShape& shape) {
  ArrayContents contents;
  contents.name = "random";
  contents.features = shape.features;
  contents.synthetic = true;
  const auto rows = static_cast<std::size_t>(shape.rows);
  std::vector<float> x(rows * static_cast<std::size_t>(shape.features));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * random_unit(shape.seed, 1, i) - 1;
  contents.values = std::move(x);
  contents.classes = shape.classes;
  for (std::size_t i = 0; shape.classes > 0 && i < rows; ++i) {
    contents.labels.push_back(
        static_cast<int>(random_unit(shape.seed, 2, i) * static_cast<float>(shape.classes)));
  }
  contents.target_columns = shape.target_columns;
  for (std::size_t i = 0; i < rows * static_cast<std::size_t>(shape.target_columns); ++i) {
    const float t = random_unit(shape.seed, 3, i);
    contents.targets.push_back(shape.zero_or_one ? (t > 0.5F ? 1.0F : 0.0F) : 2 * t - 1);
  }
  for (std::size_t i = 0; shape.weighted && i < rows; ++i) {
    contents.weights.push_back(i == rows / 2 ? 0.0F : 0.25F + 2 * random_unit(shape.seed, 4, i));
  }
  return std::make_shared<ArrayDataset>(std::move(contents));
}

/// Rows of `features` numbers with `target_columns` numbers to predict; both row-major.
inline DatasetPtr given_data(int features, std::vector<float> x, int target_columns, std::vector<float> y,
                             std::vector<float> weights = {}) {
  ArrayContents contents;
  contents.name = "given";
  contents.features = features;
  contents.values = std::move(x);
  contents.target_columns = target_columns;
  contents.targets = std::move(y);
  contents.weights = std::move(weights);
  return std::make_shared<ArrayDataset>(std::move(contents));
}

/// One feature and one target a row.
inline DatasetPtr points(std::vector<float> x, std::vector<float> y, std::vector<float> weights = {}) {
  return given_data(1, std::move(x), 1, std::move(y), std::move(weights));
}

}  // namespace mirrorscale::strategies::testing

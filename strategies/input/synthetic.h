#pragma once
#include "strategies/input/dataset.h"

#include <cstdint>
#include <string>

namespace mirrorscale::strategies {

// Data sets made from a seed. Row i is keyed by (seed, train or test, i): it does not depend on how many rows
// are made nor, feature by feature, on how wide they are. Without test rows `test` is null. All throw
// std::invalid_argument for sizes below 1 (test rows: below 0).

struct RowCounts {
  std::int64_t train = 0, test = 0;
};

struct Clusters {
  RowCounts rows;
  int features = 20, classes = 10;
  std::uint64_t seed = 0;
  float noise = 1;  // standard deviation around the centre of the class
};
/// Classification: a centre of N(0, 1) numbers a class; a row is the centre of a random class plus noise.
SplitDataset make_clusters(const Clusters& wanted);

/// Regression: one feature x, uniform in [0, 1), and one target y = 3 x.
SplitDataset make_line(RowCounts rows, std::uint64_t seed);

/// Every feature and every target of row i is i, so that a row can be recognised anywhere. Fewer than 2^24
/// rows.
DatasetPtr make_identity_rows(std::int64_t rows, int features, int target_columns);

/// Classification of byte images: a random image a class; a row is that of a random class plus noise.
/// Integers only, so the same on every machine.
struct Images {
  std::string name = "images";
  RowCounts rows;
  RowImage image = {32, 32, 3};
  int classes = 10;
  std::uint64_t seed = 0;
};
SplitDataset make_images(const Images& wanted);

/// The shape of Fashion-MNIST: 784 byte pixels, 10 classes.
SplitDataset make_fashion_twin(RowCounts rows, std::uint64_t seed);

}  // namespace mirrorscale::strategies

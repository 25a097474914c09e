#pragma once
#include "kernels/matrix.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace mirrorscale::strategies {

/// What a row's features are, in the order height, width, channel: an image, or 1 x 1 x features.
struct RowImage {
  int height = 1, width = 1, channels = 0;
  bool operator==(const RowImage&) const = default;
};

/// Rows that can be read in any order, from several threads at once. A row has `features` numbers and either
/// a class label (`classes` > 0) or `target_columns` numbers to predict, and optionally a sample weight.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const std::string& name() const = 0;
  virtual std::int64_t rows() const = 0;
  virtual int features() const = 0;
  /// height * width * channels = features().
  virtual RowImage image() const { return {1, 1, features()}; }
  virtual int classes() const = 0;         // 0: no labels
  virtual int target_columns() const = 0;  // 0: no targets
  /// Labels of a row: one for each position that a model predicts at.
  virtual int labels_per_row() const { return 1; }
  virtual bool weighted() const { return false; }
  /// True when the rows were made here and stand for no real data.
  virtual bool synthetic() const = 0;

  /// x(i, f) = feature f of row `rows[i]`. x: [rows.size(), features()]
  virtual void copy_features(std::span<const std::int64_t> rows, kernels::Matrix x) const = 0;
  /// labels[i * labels_per_row() + j] = label j of row `rows[i]`. Only where classes() > 0.
  virtual void copy_labels(std::span<const std::int64_t> rows, int* labels) const = 0;
  /// t(i, c) = target c of row `rows[i]`. Only where target_columns() > 0. t: [rows.size(), target_columns()]
  virtual void copy_targets(std::span<const std::int64_t> rows, kernels::Matrix t) const = 0;
  /// weights[i] = sample weight of row `rows[i]`. Only where weighted().
  virtual void copy_weights(std::span<const std::int64_t> rows, float* weights) const;
};

/// Of an array [rows, height, width] or [rows, height, width, channels]; other shapes are no images (no
/// channels). Sizes below 2^31.
RowImage image_of(std::span<const std::int64_t> shape);

using DatasetPtr = std::shared_ptr<const Dataset>;

/// Training and test rows of one source.
struct SplitDataset {
  DatasetPtr train, test;
};

}  // namespace mirrorscale::strategies

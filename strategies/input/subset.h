#pragma once
#include "strategies/input/dataset.h"

#include <cstdint>
#include <vector>

namespace mirrorscale::strategies {

/// Some rows of another data set, by number and in the order given: row i is row `rows[i]` of `base`.
class Subset final : public Dataset {
 public:
  /// Throws std::invalid_argument without rows or with one that `base` does not have.
  Subset(DatasetPtr base, std::vector<std::int64_t> rows);

  const std::string& name() const override { return base_->name(); }
  std::int64_t rows() const override { return static_cast<std::int64_t>(rows_.size()); }
  int features() const override { return base_->features(); }
  RowImage image() const override { return base_->image(); }
  int classes() const override { return base_->classes(); }
  int target_columns() const override { return base_->target_columns(); }
  int labels_per_row() const override { return base_->labels_per_row(); }
  bool weighted() const override { return base_->weighted(); }
  bool synthetic() const override { return base_->synthetic(); }

  void copy_features(std::span<const std::int64_t> rows, kernels::Matrix x) const override;
  void copy_labels(std::span<const std::int64_t> rows, int* labels) const override;
  void copy_targets(std::span<const std::int64_t> rows, kernels::Matrix t) const override;
  void copy_weights(std::span<const std::int64_t> rows, float* weights) const override;

 private:
  DatasetPtr base_;
  std::vector<std::int64_t> rows_;
};

/// The first `count` rows of `base`; `base` itself when it has no more. Throws std::invalid_argument for
/// count < 1.
DatasetPtr first_rows(DatasetPtr base, std::int64_t count);

}  // namespace mirrorscale::strategies

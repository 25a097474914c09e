#pragma once
#include "strategies/input/dataset.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace mirrorscale::strategies {

/// Values that lie in memory of another, which lives as long as `owner`: of a mapped file.
template <class T>
struct BorrowedValues {
  using value_type = T;
  std::span<const T> values;
  std::shared_ptr<const void> owner;
  const T* data() const { return values.data(); }
  std::size_t size() const { return values.size(); }
};

/// What an ArrayDataset is made of; matrices are row-major without gaps.
struct ArrayContents {
  std::string name;
  int features = 0;
  RowImage image = {1, 1, 0};  // of the same size; no channels: rows are no images
  /// [rows, features]; bytes stay bytes and become byte / byte_divisor (in float) when copied.
  std::variant<std::vector<float>, std::vector<std::uint8_t>, BorrowedValues<float>,
               BorrowedValues<std::uint8_t>>
      values;
  float byte_divisor = 255;
  /// One label a row, 0 .. classes - 1; `classes` 0 means the largest label + 1. Or empty.
  std::vector<int> labels;
  int classes = 0;
  /// [rows, target_columns], or empty. A data set has labels or targets; with neither it serves to predict
  /// only.
  std::vector<float> targets;
  int target_columns = 0;
  /// One sample weight a row, finite and not negative, or empty for none.
  std::vector<float> weights;
  bool synthetic = false;
  /// Where values, and labels or targets, came from: file names for error messages. Empty: `name`.
  std::string values_source, answers_source;
};

/// Rows held in memory, or borrowed. Construction checks everything once and throws DataError: sizes that do
/// not fit each other, no rows, a label out of range, a NaN or an infinity (with its row and column).
class ArrayDataset final : public Dataset {
 public:
  explicit ArrayDataset(ArrayContents contents);

  const std::string& name() const override { return contents_.name; }
  std::int64_t rows() const override { return rows_; }
  int features() const override { return contents_.features; }
  RowImage image() const override { return contents_.image; }
  int classes() const override { return contents_.classes; }
  int target_columns() const override { return contents_.target_columns; }
  bool weighted() const override { return !contents_.weights.empty(); }
  bool synthetic() const override { return contents_.synthetic; }

  // A row that does not exist or a matrix of another shape throws std::invalid_argument. Padding lanes become
  // 0.
  void copy_features(std::span<const std::int64_t> rows, kernels::Matrix x) const override;
  void copy_labels(std::span<const std::int64_t> rows, int* labels) const override;
  void copy_targets(std::span<const std::int64_t> rows, kernels::Matrix t) const override;
  void copy_weights(std::span<const std::int64_t> rows, float* weights) const override;

 private:
  void check_values();
  void check_answers();
  void check_rows(const char* op, std::span<const std::int64_t> rows) const;

  ArrayContents contents_;
  std::int64_t rows_ = 0;
  std::array<float, 256> of_byte_{};
};

}  // namespace mirrorscale::strategies

#pragma once
#include "kernels/matrix.h"
#include "strategies/input/dataset.h"

#include <cstdint>
#include <vector>

namespace mirrorscale::strategies {

/// A matrix in panels, its padding filled with a number that would be noticed, as one row after the other.
class Panels {
 public:
  Panels(int rows, int columns)
      : values_(kernels::activation_size(rows, columns), kUntouched),
        matrix_{values_.data(), rows, columns, kernels::activation_stride(rows)} {}
  static constexpr float kUntouched = -77;

  kernels::Matrix matrix() const { return matrix_; }
  std::vector<float> rows() const {
    std::vector<float> all;
    for (int r = 0; r < matrix_.rows; ++r) {
      for (int c = 0; c < matrix_.columns; ++c) all.push_back(matrix_.at(r, c));
    }
    return all;
  }

 private:
  std::vector<float> values_;
  kernels::Matrix matrix_;
};

inline std::vector<float> features_of(const Dataset& data, const std::vector<std::int64_t>& rows) {
  const Panels x(static_cast<int>(rows.size()), data.features());
  data.copy_features(rows, x.matrix());
  return x.rows();
}
inline std::vector<float> targets_of(const Dataset& data, const std::vector<std::int64_t>& rows) {
  const Panels t(static_cast<int>(rows.size()), data.target_columns());
  data.copy_targets(rows, t.matrix());
  return t.rows();
}
inline std::vector<int> labels_of(const Dataset& data, const std::vector<std::int64_t>& rows) {
  std::vector<int> labels(rows.size() * static_cast<std::size_t>(data.labels_per_row()), -1);
  data.copy_labels(rows, labels.data());
  return labels;
}
inline std::vector<float> weights_of(const Dataset& data, const std::vector<std::int64_t>& rows) {
  std::vector<float> weights(rows.size(), -1);
  data.copy_weights(rows, weights.data());
  return weights;
}

}  // namespace mirrorscale::strategies

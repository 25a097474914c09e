#pragma once
#include "kernels/buffer.h"
#include "kernels/matrix.h"
#include "strategies/engine/loss.h"

#include <vector>

namespace mirrorscale::strategies {

/// The rows of one replica, in buffers that are made once and filled again and again.
class BatchBuffers {
 public:
  struct Shape {
    int rows = 0, features = 0, classes = 0, target_columns = 0;
    bool weighted = false;
  };
  BatchBuffers() = default;
  explicit BatchBuffers(const Shape& capacity);

  /// Views of the first `rows` rows.
  kernels::Matrix features(int rows) const { return view(features_.get(), rows, capacity_.features); }
  kernels::Matrix values(int rows) const { return view(values_.get(), rows, capacity_.target_columns); }
  int* labels() { return labels_.data(); }
  float* weights() { return weights_.data(); }
  const Shape& capacity() const { return capacity_; }
  Targets targets(int rows) const;
  std::size_t bytes() const;

 private:
  kernels::Matrix view(float* data, int rows, int columns) const;

  Shape capacity_;
  kernels::Buffer features_, values_;
  std::vector<int> labels_;
  std::vector<float> weights_;
};

}  // namespace mirrorscale::strategies

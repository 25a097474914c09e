#include "strategies/engine/batch.h"

namespace mirrorscale::strategies {

BatchBuffers::BatchBuffers(const Shape& capacity)
    : capacity_(capacity),
      features_(kernels::make_buffer(kernels::activation_size(capacity.rows, capacity.features))),
      values_(kernels::make_buffer(kernels::activation_size(capacity.rows, capacity.target_columns))),
      labels_(capacity.classes > 0 ? static_cast<std::size_t>(capacity.rows) : 0U),
      weights_(capacity.weighted ? static_cast<std::size_t>(capacity.rows) : 0U) {}

kernels::Matrix BatchBuffers::view(float* data, int rows, int columns) const {
  if (columns == 0) return {};
  return {data, rows, columns, kernels::activation_stride(capacity_.rows)};
}

Targets BatchBuffers::targets(int rows) const {
  return {labels_.empty() ? nullptr : labels_.data(), values(rows),
          weights_.empty() ? nullptr : weights_.data()};
}

std::size_t BatchBuffers::bytes() const {
  return sizeof(float) *
             (kernels::activation_size(capacity_.rows, capacity_.features) +
              kernels::activation_size(capacity_.rows, capacity_.target_columns) + weights_.size()) +
         sizeof(int) * labels_.size();
}

}  // namespace mirrorscale::strategies

#include "strategies/input/dataset.h"

#include <stdexcept>

namespace mirrorscale::strategies {

RowImage image_of(std::span<const std::int64_t> shape) {
  if (shape.size() != 3 && shape.size() != 4) return {};
  const auto size = [&](std::size_t axis) { return axis < shape.size() ? static_cast<int>(shape[axis]) : 1; };
  return {size(1), size(2), size(3)};
}

void Dataset::copy_weights(std::span<const std::int64_t> /*rows*/, float* /*weights*/) const {
  throw std::logic_error("[copy_weights] data set '" + name() + "' has no sample weights");
}

}  // namespace mirrorscale::strategies

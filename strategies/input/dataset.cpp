#include "strategies/input/dataset.h"

#include <stdexcept>

namespace mirrorscale::strategies {

void Dataset::copy_weights(std::span<const std::int64_t> /*rows*/, float* /*weights*/) const {
  throw std::logic_error("[copy_weights] data set '" + name() + "' has no sample weights");
}

}  // namespace mirrorscale::strategies

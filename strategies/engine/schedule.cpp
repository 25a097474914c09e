#include "strategies/engine/schedule.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace mirrorscale::strategies {

Schedule constant_rate(double rate) {
  return [rate](std::int64_t) { return rate; };
}

Schedule piecewise_constant_rate(std::vector<std::int64_t> boundaries, std::vector<double> values) {
  if (values.size() != boundaries.size() + 1 || !std::is_sorted(boundaries.begin(), boundaries.end())) {
    throw std::invalid_argument(
        "[schedule] piecewise_constant_rate needs ascending boundaries and one value more than "
        "boundaries; got " +
        std::to_string(boundaries.size()) + " boundaries and " + std::to_string(values.size()) + " values");
  }
  return [boundaries = std::move(boundaries), values = std::move(values)](std::int64_t step) {
    const auto at = std::upper_bound(boundaries.begin(), boundaries.end(), step) - boundaries.begin();
    return values[static_cast<std::size_t>(at)];
  };
}

Schedule exponential_decay(const ExponentialDecay& o) {
  if (o.decay_steps < 1) {
    throw std::invalid_argument("[schedule] decay_steps is " + std::to_string(o.decay_steps) +
                                "; needs at least 1");
  }
  return [o](std::int64_t step) {
    const double exponent = static_cast<double>(step) / static_cast<double>(o.decay_steps);
    return o.rate * std::pow(o.factor, o.staircase ? std::floor(exponent) : exponent);
  };
}

}  // namespace mirrorscale::strategies

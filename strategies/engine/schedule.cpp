#include "strategies/engine/schedule.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace mirrorscale::strategies {
namespace {

void require_steps(const char* what, std::int64_t steps) {
  if (steps >= 1) return;
  throw std::invalid_argument("[schedule] " + std::string(what) + " is " + std::to_string(steps) +
                              "; needs at least 1");
}

/// (1 - cos(pi x)) / 2 = sin(pi x / 2)^2 for x in [0, 1], by the series of sin up to t^23: its rest is below
/// 3e-20. Only exact operations of IEEE 754, in this order.
double rise(double x) {
  const double t = 1.5707963267948966 * x, square = t * t;
  double sum = 0;
  for (int n = 23; n >= 3; n -= 2) sum = (1 + sum) * (-square / (n * (n - 1)));
  const double sine = t * (1 + sum);
  return sine * sine;
}

}  // namespace

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
  require_steps("decay_steps", o.decay_steps);
  return [o](std::int64_t step) {
    const double exponent = static_cast<double>(step) / static_cast<double>(o.decay_steps);
    return o.rate * std::pow(o.factor, o.staircase ? std::floor(exponent) : exponent);
  };
}

Schedule cosine_decay(const CosineDecay& o) {
  require_steps("decay_steps", o.decay_steps);
  return [o](std::int64_t step) {
    const double done =
        static_cast<double>(std::min(step, o.decay_steps)) / static_cast<double>(o.decay_steps);
    return o.rate * ((1 - o.end) * (1 - rise(done)) + o.end);
  };
}

Schedule polynomial_decay(const PolynomialDecay& o) {
  require_steps("decay_steps", o.decay_steps);
  require_steps("power", o.power);
  return [o](std::int64_t step) {
    const double left =
        1 - static_cast<double>(std::min(step, o.decay_steps)) / static_cast<double>(o.decay_steps);
    double power = 1;
    for (int i = 0; i < o.power; ++i) power *= left;
    return (o.rate - o.end) * power + o.end;
  };
}

Schedule warm_up(std::int64_t steps, Schedule after) {
  require_steps("warm-up", steps);
  return [steps, after = std::move(after)](std::int64_t step) {
    if (step >= steps) return after(step - steps);
    return after(0) * (static_cast<double>(step + 1) / static_cast<double>(steps));
  };
}

Schedule scaled(double factor, Schedule schedule) {
  return [factor, schedule = std::move(schedule)](std::int64_t step) { return factor * schedule(step); };
}

}  // namespace mirrorscale::strategies

#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace mirrorscale::strategies {

/// Learning rate as a function of the optimizer step, counted from 0. Never of local batches or replicas.
using Schedule = std::function<double(std::int64_t step)>;

Schedule constant_rate(double rate);
/// values[i] while step < boundaries[i], values.back() after. Throws std::invalid_argument unless boundaries
/// ascend and values has one more entry.
Schedule piecewise_constant_rate(std::vector<std::int64_t> boundaries, std::vector<double> values);
/// rate · factor^(step / decay_steps); in whole stairs when `staircase`.
struct ExponentialDecay {
  double rate = 0.1, factor = 0.96;
  std::int64_t decay_steps = 1000;
  bool staircase = false;
};
Schedule exponential_decay(const ExponentialDecay& options);

}  // namespace mirrorscale::strategies

#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace mirrorscale::strategies {

/// Learning rate as a function of the optimizer step, counted from 0. Never of local batches or replicas, nor
/// of the micro-batches of an accumulation.
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
/// From rate at step 0 to end · rate at decay_steps and after, by half a period of a cosine (Loshchilov &
/// Hutter 2017): rate ((1 - end) (1 + cos(pi step / decay_steps)) / 2 + end). The same bits with every C
/// library.
struct CosineDecay {
  double rate = 0.1, end = 0;
  std::int64_t decay_steps = 1000;
};
Schedule cosine_decay(const CosineDecay& options);
/// (rate - end) (1 - step / decay_steps)^power + end until decay_steps, `end` after. A power of 1 is a line.
struct PolynomialDecay {
  double rate = 0.1, end = 0.0001;
  int power = 1;
  std::int64_t decay_steps = 1000;
};
Schedule polynomial_decay(const PolynomialDecay& options);
/// A line from after(0) / steps in the first step to after(0) in the last of `steps`; then `after`, counted
/// from its own 0 (Goyal et al. 2017). Throws std::invalid_argument for steps < 1.
Schedule warm_up(std::int64_t steps, Schedule after);
/// factor times another schedule: with factor = global batch / base batch the linear scaling rule (Goyal et
/// al. 2017).
Schedule scaled(double factor, Schedule schedule);

}  // namespace mirrorscale::strategies

#pragma once
#include <functional>

namespace mirrorscale::scenarios {

/// What warm-up found out.
struct Steady {
  int warmup_steps = 0;     // thrown away, the looks at the end too
  bool settled = true;      // false: they never became steady, and counting began anyway
  double step_s = 0;        // median of the last looks
  int steps_per_slice = 1;  // so many fill a slice
};

/// Runs steps until they are steady (harness/measure/warmup.h), then some more to see how long one is.
/// `run_step` runs one and returns its seconds.
Steady warm_up(const std::function<double()>& run_step, double slice_s);

}  // namespace mirrorscale::scenarios

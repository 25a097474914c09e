#include "scenarios/cells/steady.h"

#include "harness/measure/summary.h"
#include "harness/measure/warmup.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace mirrorscale::scenarios {

Steady warm_up(const std::function<double()>& run_step, double slice_s) {
  constexpr int kLooks = 5;
  harness::WarmupDetector detector;
  while (!detector.done()) detector.add(run_step());
  std::vector<double> looks;
  while (looks.size() < kLooks) looks.push_back(run_step());
  Steady steady{.warmup_steps = detector.steps() + kLooks,
                .settled = detector.settled(),
                .step_s = *harness::median(looks)};
  steady.steps_per_slice = static_cast<int>(std::clamp(std::ceil(slice_s / steady.step_s), 1.0, 1e4));
  return steady;
}

}  // namespace mirrorscale::scenarios

#include "scenarios/cells/phase_sums.h"

namespace mirrorscale::scenarios {

void PhaseSums::add(const strategies::Timeline& timeline) {
  for (int r = 0; r < timeline.replicas(); ++r) {
    for (std::size_t s = 0; s < timeline.steps(); ++s) {
      const strategies::StepMarks& m = timeline.at(r, s);
      sums_.input_s += m.input_s;
      sums_.forward_s += m.forward_s;
      sums_.backward_s += m.backward_s;
      sums_.reduction_s += m.reduction_s;
      sums_.optimizer_s += m.optimizer_s;
      sums_.wait_s += m.wait_s;
      counted_ += 1;
    }
  }
}

Phases PhaseSums::mean() const {
  const double n = counted_ == 0 ? 1 : counted_;
  return {sums_.input_s / n,     sums_.forward_s / n,   sums_.backward_s / n,
          sums_.reduction_s / n, sums_.optimizer_s / n, sums_.wait_s / n};
}

}  // namespace mirrorscale::scenarios

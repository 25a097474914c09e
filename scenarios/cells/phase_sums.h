#pragma once
#include "strategies/timeline.h"

namespace mirrorscale::scenarios {

/// Mean over replicas and steps of where a step's time goes.
struct Phases {
  double input_s = 0, forward_s = 0, backward_s = 0, reduction_s = 0, optimizer_s = 0, wait_s = 0;
};

/// Adds up the marks of timelines.
class PhaseSums {
 public:
  void add(const strategies::Timeline& timeline);
  Phases mean() const;
  void reset() { *this = {}; }

 private:
  Phases sums_;
  double counted_ = 0;  // steps times replicas
};

}  // namespace mirrorscale::scenarios

#pragma once
#include "scenarios/oracle/layer.h"
#include "scenarios/oracle/tracked.h"

namespace mirrorscale::scenarios::oracle {

struct Penalty {
  double value = 0, scale = 0;
};

/// l1 * sum |w| + l2 * sum w^2.
Penalty penalty_of(const ArraySize& array, const Tracked& w);

/// gradient += 2 l2 w + l1 sign(w), sign(0) = 0. Where w is within its error of 0, all of l1's part is an
/// error.
void add_penalty_gradient(const ArraySize& array, const ErrorModel& errors, const Tracked& w,
                          Tracked& gradient);

}  // namespace mirrorscale::scenarios::oracle

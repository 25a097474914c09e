#pragma once
#include "scenarios/oracle/settings.h"
#include "scenarios/oracle/tracked.h"

namespace mirrorscale::scenarios::oracle {

/// One weight array and what its optimizer keeps: momentum, or first and second moment, or the accumulator.
struct Parameter {
  Tracked w, gradient, first, second;
};

/// Makes the slots that the optimizer needs, at their starting values.
void prepare(const Optimizer& optimizer, Parameter& parameter);

/// Update number `step` (from 1) by parameter.gradient, with errors (docs/error_bound.md, 5).
void update(const Optimizer& optimizer, const ErrorModel& errors, double step, Parameter& parameter);

}  // namespace mirrorscale::scenarios::oracle

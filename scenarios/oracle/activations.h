#pragma once
#include "scenarios/oracle/settings.h"
#include "scenarios/oracle/tracked.h"

#include <cstddef>
#include <span>

namespace mirrorscale::scenarios::oracle {

/// y = f(z), with its error.
void activate(Activation f, const ErrorModel& errors, const Tracked& z, Tracked& y);

/// dz = the gradient by z, from the gradient dy by y = f(z). Where z is within its error of relu's kink, the
/// whole of dy is an error.
void activate_backward(Activation f, const ErrorModel& errors, const Tracked& z, const Tracked& y,
                       const Tracked& dy, Tracked& dz);

double sigmoid(double z);

/// log sum exp(z - top) of one row.
struct LogSum {
  double top = 0, value = 0;
  /// Relative error scale of the sum itself, given the z.
  double own_scale = 0;
};

/// p = softmax of one row; shift_scale[c] is the error scale of z[c] - top.
LogSum softmax_row(const ErrorModel& errors, std::span<const double> z, std::span<const double> z_scale,
                   std::span<double> p, std::span<double> p_scale, std::span<double> shift_scale);

}  // namespace mirrorscale::scenarios::oracle

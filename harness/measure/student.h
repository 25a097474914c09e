#pragma once

namespace mirrorscale::harness {

/// P(T > t) of Student's t distribution; relative error below 1e-9 down to 1e-300. `degrees` need not be
/// whole. Throws std::invalid_argument for t that is NaN and degrees that are not positive.
double student_upper_tail(double t, double degrees);

/// The t that T exceeds with probability `upper`, 0 < upper < 1.
double student_quantile_above(double upper, double degrees);

}  // namespace mirrorscale::harness

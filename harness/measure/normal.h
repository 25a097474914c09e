#pragma once

namespace mirrorscale::harness {

/// Probability that a standard normal lies above z.
double normal_above(double z);

/// The point that a standard normal lies above with probability `tail`, 0 < tail <= 0.5.
double normal_point(double tail);

/// The same for Student's t, by its expansion in 1 / freedom: good to 1 % from 3 degrees of freedom up for
/// tails of 0.01 and more, to 5 % from 9 up for tails of 0.0005 and more.
double student_point(double tail, double freedom);

}  // namespace mirrorscale::harness

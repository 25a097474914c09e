#pragma once

namespace mirrorscale::harness {

/// Probability that a standard normal lies above z.
double normal_above(double z);

/// The point that a standard normal lies above with probability `tail`, 0 < tail <= 0.5.
double normal_point(double tail);

}  // namespace mirrorscale::harness

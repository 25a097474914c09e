#include "harness/measure/normal.h"

#include <cmath>
#include <numbers>

namespace mirrorscale::harness {

double normal_above(double z) {
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

double normal_point(double tail) {
  double low = 0, high = 40;  // bisection is exact enough and plain
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (normal_above(middle) > tail ? low : high) = middle;
  }
  return low;
}

}  // namespace mirrorscale::harness

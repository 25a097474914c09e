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

double student_point(double tail, double freedom) {
  const double z = normal_point(tail), z2 = z * z;
  return z + z * (z2 + 1) / (4 * freedom) + z * ((5 * z2 + 16) * z2 + 3) / (96 * freedom * freedom) +
         z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * freedom * freedom * freedom);
}

}  // namespace mirrorscale::harness

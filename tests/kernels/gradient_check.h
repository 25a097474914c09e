#pragma once
#include "tests/kernels/support.h"

#include <cmath>
#include <functional>
#include <string>

namespace mirrorscale::kernels::testing {

using Values = Grid<double>;

/// sum of y * r: a loss whose gradient with respect to y is r.
inline double weigh(const Values& y, const Values& r) {
  double sum = 0;
  for (int i = 0; i < y.rows(); ++i) {
    for (int j = 0; j < y.columns(); ++j) sum += y.at(i, j) * r.at(i, j);
  }
  return sum;
}

/// d loss / d at(i, j) by central differences, against `gradient`.
inline void expect_gradient(const Values& at, const Values& gradient, const std::function<double()>& loss,
                            const std::string& what) {
  constexpr double kStep = 1e-5, kAllowed = 2e-8;  // step^2 times a third derivative; rounding 1e-16 / step
  for (int i = 0; i < at.rows(); ++i) {
    for (int j = 0; j < at.columns(); ++j) {
      const double here = at.at(i, j);
      at.at(i, j) = here + kStep;
      const double above = loss();
      at.at(i, j) = here - kStep;
      const double below = loss();
      at.at(i, j) = here;
      const double slope = (above - below) / (2 * kStep);
      ASSERT_NEAR(gradient.at(i, j), slope, kAllowed * (1 + std::abs(slope)))
          << what << " at " << i << ", " << j;
    }
  }
}

}  // namespace mirrorscale::kernels::testing

#include "harness/measure/student.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace mirrorscale::harness {
namespace {

double relative_error(double got, double expected) {
  return std::abs(got - expected) / expected;
}

// One degree of freedom is Cauchy's distribution, two have a closed form.
TEST(StudentTest, ClosedForms) {
  for (const double t : {0.1, 0.7, 1.0, 3.0, 20.0, 1000.0}) {
    EXPECT_LT(relative_error(student_upper_tail(t, 1), std::atan(1 / t) / std::numbers::pi), 1e-9) << t;
    // (1 - t / sqrt(2 + t t)) / 2, without its cancellation
    const double root = std::sqrt(2 + t * t);
    EXPECT_LT(relative_error(student_upper_tail(t, 2), 1 / (root * (root + t))), 1e-9) << t;
  }
}

// Printed tables: 2.776 at 4, 1.812 at 10; and the normal distribution's 3.0902 for many.
TEST(StudentTest, TablesOfTheTextbooks) {
  EXPECT_NEAR(student_quantile_above(0.025, 4), 2.776445, 1e-6);
  EXPECT_NEAR(student_quantile_above(0.05, 10), 1.812461, 1e-6);
  EXPECT_NEAR(student_quantile_above(0.001, 1e7), 3.090232, 1e-4);
  EXPECT_NEAR(student_upper_tail(2, 10), 0.036694, 1e-6);
}

TEST(StudentTest, SymmetricAndInverse) {
  for (const double degrees : {1.0, 2.5, 8.0, 100.0}) {
    EXPECT_DOUBLE_EQ(student_upper_tail(0, degrees), 0.5);
    for (const double p : {1e-8, 1e-4, 0.01, 0.3, 0.5, 0.9}) {
      const double t = student_quantile_above(p, degrees);
      EXPECT_LT(relative_error(student_upper_tail(t, degrees), p), 1e-6) << p << " " << degrees;
      EXPECT_NEAR(student_upper_tail(-t, degrees), 1 - p, 1e-9);
    }
  }
}

TEST(StudentTest, FarTailsAndMisuse) {
  EXPECT_EQ(student_upper_tail(std::numeric_limits<double>::infinity(), 3), 0);
  EXPECT_GT(student_upper_tail(1e8, 3), 0);
  EXPECT_THROW(student_upper_tail(std::nan(""), 3), std::invalid_argument);
  EXPECT_THROW(student_upper_tail(1, 0), std::invalid_argument);
  EXPECT_THROW(student_quantile_above(0, 3), std::invalid_argument);
  EXPECT_THROW(student_quantile_above(1, 3), std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::harness

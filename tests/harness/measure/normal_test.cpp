#include "harness/measure/normal.h"

#include <gtest/gtest.h>

namespace mirrorscale::harness {
namespace {

// Points that every table has.
TEST(Normal, HasTheValuesOfTheTables) {
  EXPECT_DOUBLE_EQ(normal_above(0), 0.5);
  EXPECT_NEAR(normal_above(1.959964), 0.025, 1e-7);
  EXPECT_NEAR(normal_above(-1.644854), 0.95, 1e-7);
  EXPECT_NEAR(normal_point(0.01), 2.326348, 1e-6);
  EXPECT_NEAR(normal_point(0.5), 0, 1e-9);
}

TEST(Student, IsAsNearToTheTablesAsItSays) {
  EXPECT_NEAR(student_point(0.025, 3), 3.182, 0.032);
  EXPECT_NEAR(student_point(0.01, 9), 2.821, 0.028);
  EXPECT_NEAR(student_point(0.0005, 9), 4.781, 0.24);
  EXPECT_NEAR(student_point(0.05, 1e9), normal_point(0.05), 1e-6);
}

}  // namespace
}  // namespace mirrorscale::harness

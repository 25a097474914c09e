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

}  // namespace
}  // namespace mirrorscale::harness

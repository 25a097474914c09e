#include "harness/judge/relative.h"

#include <gtest/gtest.h>
#include <vector>

namespace mirrorscale::harness {
namespace {

LaunchTable table() {
  // Four cells of different levels; two launches each side; everything is 3 slower in the last launch, and
  // cell 0 is 1 slower on top in both launches of the candidate.
  return {{{0, 0, 1, 4}, {10, 10, 10, 13}, {20, 20, 20, 23}, {30, 30, 30, 33}}, {0, 0, 1, 1}, 2};
}

TEST(RelativeTest, TheMachineGoesAndTheCellStays) {
  const LaunchTable left = relative_to_others(table());
  const std::vector<std::vector<std::optional<double>>> expected{
      {0, 0, 1, 1}, {10, 10, 10, 10}, {20, 20, 20, 20}, {30, 30, 30, 30}};
  EXPECT_EQ(left.value, expected);
  EXPECT_EQ(left.session, table().session);
  EXPECT_EQ(left.baseline_launches, 2u);
}

TEST(RelativeTest, OneOutlierAmongTheOthersIsNoMachine) {
  LaunchTable t = table();
  t.value[3][2] = 99;
  const LaunchTable left = relative_to_others(t);
  EXPECT_EQ(left.value[1][2], 9);  // others are 1, 0, 69 off: the median says 1
  EXPECT_EQ(left.value[0][2], 1);  // 0, 0, 69
}

TEST(RelativeTest, TooFewOthersLeaveNothing) {
  LaunchTable t = table();
  t.value[3][2].reset();
  const LaunchTable left = relative_to_others(t);
  EXPECT_FALSE(left.value[0][2]);
  EXPECT_FALSE(left.value[3][2]);
  EXPECT_TRUE(left.value[0][3]);
  EXPECT_TRUE(relative_to_others(t, 2).value[0][2]);
}

TEST(RelativeTest, ACellThatTheBaselineLacksIsNoYardstick) {
  LaunchTable t = table();
  t.value[3][0].reset();
  t.value[3][1].reset();
  EXPECT_FALSE(relative_to_others(t).value[0][2]);
}

}  // namespace
}  // namespace mirrorscale::harness

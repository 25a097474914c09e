#include "strategies/timeline.h"

#include <gtest/gtest.h>
#include <vector>

namespace mirrorscale::strategies {
namespace {

TEST(Timeline, AStepTakesFromTheLastToTheLast) {
  // Replica 1 starts last (at 2); replica 0 is last in step 0, replica 1 in steps 1 and 2.
  Timeline timeline(2, 3);
  timeline.start(0, 1);
  timeline.start(1, 2);
  const double ends[2][3] = {{5, 6, 8}, {4, 7, 11}};
  for (int r = 0; r < 2; ++r) {
    for (std::size_t s = 0; s < 3; ++s) timeline.at(r, s).end_s = ends[r][s];
  }
  EXPECT_EQ(timeline.step_times_s(), (std::vector<double>{3, 2, 4}));
  EXPECT_EQ(timeline.total_s(), 9);  // from 2 to 11
  EXPECT_EQ(timeline.replicas(), 2);
  EXPECT_EQ(timeline.steps(), 3U);
}

TEST(Timeline, OfOneReplicaIsTheDifferences) {
  Timeline timeline(1, 3);
  timeline.start(0, 10);
  for (std::size_t s = 0; s < 3; ++s) timeline.at(0, s).end_s = 10.5 + static_cast<double>(s * s);
  EXPECT_EQ(timeline.step_times_s(), (std::vector<double>{0.5, 1, 3}));
  EXPECT_EQ(timeline.total_s(), 4.5);
}

TEST(Timeline, OfNoStepsIsEmpty) {
  const Timeline timeline(2, 0);
  EXPECT_TRUE(timeline.step_times_s().empty());
  EXPECT_EQ(timeline.total_s(), 0);
}

TEST(Clock, GoesForward) {
  const double before = now_s();
  EXPECT_GE(now_s(), before);
  EXPECT_GT(before, 0);
}

}  // namespace
}  // namespace mirrorscale::strategies

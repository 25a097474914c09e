#include "harness/measure/warmup.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

// 2 steps never count, then two windows of 5 must agree: a steady run is found steady after 12 steps.
TEST(Warmup, SteadyRunNeedsTheLeastSteps) {
  WarmupDetector detector;
  for (int step = 1; step <= 11; ++step) EXPECT_FALSE(detector.add(0.01)) << step;
  EXPECT_TRUE(detector.add(0.01));
  EXPECT_EQ(detector.steps(), 12);
  EXPECT_TRUE(detector.settled());
}

TEST(Warmup, SlowFirstStepsAreWaitedFor) {
  WarmupDetector detector;
  const std::vector<double> slow{0.2, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05};
  for (const double step_s : slow) EXPECT_FALSE(detector.add(step_s));
  int steps = 0;
  while (!detector.add(0.01)) ++steps;
  // Both windows must lie in the steady part, but for at most two slow steps in the older one.
  EXPECT_GE(steps + 1, 8);
  EXPECT_LE(steps + 1, 10);
  EXPECT_TRUE(detector.settled());
}

TEST(Warmup, ARunThatNeverSettlesIsSaidSo) {
  WarmupDetector detector({.fewest = 0, .window = 2, .tolerance = 0.05, .most = 20});
  double step_s = 1;
  while (!detector.add(step_s)) step_s *= 0.9;
  EXPECT_EQ(detector.steps(), 20);
  EXPECT_FALSE(detector.settled());
  EXPECT_TRUE(detector.add(1)) << "done stays done";
  EXPECT_EQ(detector.steps(), 20);
}

TEST(Warmup, OneOutlierDoesNotUnsettle) {
  WarmupDetector detector;
  bool done = false;
  for (int step = 1; step <= 12; ++step) done = detector.add(step == 10 ? 0.5 : 0.01);
  EXPECT_TRUE(done);
}

TEST(Warmup, MisuseIsRefused) {
  EXPECT_THROW(WarmupDetector({.fewest = 2, .window = 5, .tolerance = 0.02, .most = 11}),
               std::invalid_argument);
  EXPECT_THROW(WarmupDetector({.fewest = -1}), std::invalid_argument);
  EXPECT_THROW(WarmupDetector({.tolerance = 0}), std::invalid_argument);
  WarmupDetector detector;
  EXPECT_THROW(detector.add(-1), std::invalid_argument);
}

// A card that heats up: 10 ms rising to 12 ms.
TEST(Drift, LastThirdAgainstFirst) {
  std::vector<double> steps;
  for (int i = 0; i < 90; ++i) steps.push_back(i < 30 ? 0.010 : i < 60 ? 0.011 : 0.012);
  EXPECT_NEAR(*drift(steps), 0.2, 1e-12);
  EXPECT_FALSE(drift(std::vector<double>(8, 1.0)));
  EXPECT_DOUBLE_EQ(*drift(std::vector<double>(9, 1.0)), 0);
}

}  // namespace
}  // namespace mirrorscale::harness

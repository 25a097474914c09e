#include "harness/measure/stopping.h"

#include "harness/measure/clock.h"
#include "harness/measure/efficiency.h"

#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>

namespace mirrorscale::harness {
namespace {

constexpr StoppingRule kRule{
    .relative_half_width = 0.01, .fewest_slices = 10, .most_slices = 100, .budget_s = 5};

TEST(Stopping, NarrowIntervalStopsAfterTheFewestSlices) {
  const Interval narrow{100, 99, 101}, wide{100, 98.9, 101};
  EXPECT_FALSE(stop_reason(kRule, {.slices = 9, .elapsed_s = 1, .interval = narrow}));
  EXPECT_EQ(stop_reason(kRule, {.slices = 10, .elapsed_s = 1, .interval = narrow}), StopReason::kInterval);
  EXPECT_FALSE(stop_reason(kRule, {.slices = 10, .elapsed_s = 1, .interval = wide}));
  EXPECT_FALSE(stop_reason(kRule, {.slices = 10, .elapsed_s = 1, .interval = {}}));
}

TEST(Stopping, CountAndBudget) {
  EXPECT_EQ(stop_reason(kRule, {.slices = 100, .elapsed_s = 1, .interval = {}}), StopReason::kSlices);
  EXPECT_EQ(stop_reason(kRule, {.slices = 3, .elapsed_s = 5, .interval = {}}), StopReason::kBudget);
  EXPECT_FALSE(stop_reason(kRule, {.slices = 0, .elapsed_s = 9, .interval = {}}))
      << "one slice is always taken";
}

TEST(Stopping, ZeroWidthNeverHolds) {
  StoppingRule rule = kRule;
  rule.relative_half_width = 0;
  EXPECT_FALSE(stop_reason(rule, {.slices = 50, .elapsed_s = 1, .interval = kUnity}));
}

TEST(Stopping, RulesAreChecked) {
  EXPECT_NO_THROW(validate(kRule));
  const auto refused = [](auto change) {
    StoppingRule rule = kRule;
    change(rule);
    EXPECT_THROW(validate(rule), std::invalid_argument);
  };
  refused([](StoppingRule& r) { r.relative_half_width = -1; });
  refused([](StoppingRule& r) { r.budget_s = 0; });
  refused([](StoppingRule& r) { r.budget_s = std::numeric_limits<double>::infinity(); });
  refused([](StoppingRule& r) { r.fewest_slices = 0; });
  refused([](StoppingRule& r) { r.most_slices = 0; });
}

TEST(Stopping, Words) {
  for (const StopReason reason : {StopReason::kInterval, StopReason::kBudget, StopReason::kSlices}) {
    EXPECT_EQ(stop_reason_from_word(to_word(reason)), reason);
  }
  EXPECT_EQ(to_word(StopReason::kBudget), "budget");
  EXPECT_THROW(stop_reason_from_word("time"), std::invalid_argument);
}

TEST(Efficiency, KnownValues) {
  EXPECT_DOUBLE_EQ(efficiency(1188.51 / 204.75, 8), 1188.51 / 204.75 / 8);
  EXPECT_EQ(efficiency(Interval{3, 2, 4}, 8, 2), (Interval{0.75, 0.5, 1}));
  EXPECT_EQ(efficiency(kUnity, 2, 2), kUnity);
}

TEST(Clock, HandClockMovesOnlyByHand) {
  HandClock clock;
  EXPECT_EQ(clock.now_s(), 0);
  clock.advance_s(1.5);
  EXPECT_EQ(clock.now_s(), 1.5);
  EXPECT_THROW(clock.advance_s(-1), std::invalid_argument);
}

TEST(Clock, SteadyClockStartsNearZeroAndGoesOn) {
  const SteadyClock clock;
  const double first = clock.now_s();
  EXPECT_GE(first, 0);
  EXPECT_LT(first, 5);
  while (clock.now_s() == first) {
  }
  EXPECT_GT(clock.now_s(), first);
}

}  // namespace
}  // namespace mirrorscale::harness

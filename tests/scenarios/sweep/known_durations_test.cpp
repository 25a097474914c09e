// A workload whose durations are known (CLK), through the code that measures real ones: warm-up, timelines,
// slices in random order, intervals. Whatever is planted, the reported numbers are right within 1 %.
#include "scenarios/sweep/measure.h"
#include "scenarios/workloads/data_source.h"
#include "tests/scenarios/sweep/fake_engine.h"

#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <numbers>
#include <ostream>
#include <random>
#include <string>

namespace mirrorscale::scenarios {
namespace {

constexpr int kBatch = 64, kRounds = 300;
constexpr double kSliceS = 0.01;

/// What is planted in the cell of several devices, and what must be reported of it. The base, of one device,
/// takes 8 ms a step in the same moments.
struct Situation {
  std::string name;
  int devices = 2;
  Behaviour base, many;
  double step_s = 0;       // median
  double mean_step_s = 0;  // what throughput follows
  double base_step_s = 8e-3;
  bool weak = false;
  double wait_s = 0, reduction_s = 0;  // of a step, mean over replicas; a wait below 0 isn't looked at
  bool only_ratio = false;  // the machine itself has no one speed: only speed-up and efficiency are known

  friend std::ostream& operator<<(std::ostream& out, const Situation& s) { return out << s.name; }
};

Behaviour steady(double seconds) {
  return {.compute_s = [seconds](int, std::int64_t, double) { return seconds; }};
}

/// The same, times what the machine does at that moment or step.
Behaviour scaled(double seconds, std::function<double(std::int64_t step, double now_s)> factor) {
  return {.compute_s = [seconds, factor](int, std::int64_t step, double now) {
    return seconds * factor(step, now);
  }};
}

Situation plain(const std::string& name, int devices, double step_s) {
  return {.name = name,
          .devices = devices,
          .base = steady(8e-3),
          .many = steady(step_s),
          .step_s = step_s,
          .mean_step_s = step_s};
}

std::vector<Situation> situations() {
  std::vector<Situation> all;
  all.push_back(plain("ideal", 2, 4e-3));

  Situation s = plain("slow_replica", 4, 2e-3);
  s.many.compute_s = [](int replica, std::int64_t, double) { return replica == 3 ? 2.6e-3 : 2e-3; };
  s.step_s = s.mean_step_s = 2.6e-3;
  s.wait_s = 0.6e-3 * 3 / 4;
  all.push_back(s);

  // The slower of two that are even from 90 % to 110 %: median 0.9 + 0.2 sqrt(1/2), mean 0.9 + 0.2 * 2/3.
  s = plain("jitter", 2, 4e-3);
  s.many.compute_s = [random = std::make_shared<std::mt19937_64>(5)](int, std::int64_t, double) {
    return 4e-3 * std::uniform_real_distribution<double>(0.9, 1.1)(*random);
  };
  s.step_s = 4e-3 * (0.9 + 0.2 * std::sqrt(0.5));
  s.mean_step_s = 4e-3 * (0.9 + 0.2 * 2 / 3);
  s.wait_s = 4e-3 * 0.2 / 6;  // half of the mean distance of two
  all.push_back(s);

  s = plain("first_steps_compile", 2, 4e-3);
  const auto compile = [](std::int64_t step, double) { return step < 3 ? 500.0 : 1.0; };
  s.base = scaled(8e-3, compile);
  s.many = scaled(4e-3, compile);
  all.push_back(s);

  s = plain("slow_warm_up", 2, 4e-3);
  const auto warming = [](std::int64_t step, double) { return 1 + std::exp(-static_cast<double>(step) / 8); };
  s.base = scaled(8e-3, warming);
  s.many = scaled(4e-3, warming);
  all.push_back(s);

  s = plain("one_slow_launch", 2, 4e-3);
  s.many = scaled(4e-3, [](std::int64_t step, double) { return step == 300 ? 250.0 : 1.0; });
  all.push_back(s);

  // The clock falls to two thirds at some moment past the middle: the medians are those of before, and the
  // ratio holds all the time.
  s = plain("throttled_past_the_middle", 2, 4e-3);
  const auto throttle = [](std::int64_t, double now) { return now > 0.6 * kRounds * 0.028 ? 1.5 : 1.0; };
  s.base = scaled(8e-3, throttle);
  s.many = scaled(4e-3, throttle);
  all.push_back(s);

  s = plain("preempted_replica", 2, 4e-3);
  s.many.compute_s = [](int replica, std::int64_t step, double) {
    return replica == 1 && step % 97 == 0 ? 24e-3 : 4e-3;
  };
  s.wait_s = 20e-3 / 97 / 2;
  all.push_back(s);

  s = plain("machine_wanders", 2, 4e-3);
  s.only_ratio = true;
  const auto wander = [](std::int64_t, double now) {
    return 1 + 0.3 * std::sin(2 * std::numbers::pi * now / 1.7);
  };
  s.base = scaled(8e-3, wander);
  s.many = scaled(4e-3, wander);
  all.push_back(s);

  s = plain("replica_wakes_late", 2, 4e-3);
  s.many.late_s = [](int replica) { return replica == 1 ? 5e-3 : 0.0; };
  s.wait_s = -1;  // it does wait, and no step takes longer for it
  all.push_back(s);

  s = plain("exposed_communication", 4, 3e-3);
  s.many = steady(2e-3);
  s.many.exchange_s = [](std::int64_t, double) { return 1e-3; };
  s.reduction_s = 1e-3;
  all.push_back(s);

  s = plain("weak_scaling", 8, 8.8e-3);
  s.weak = true;
  all.push_back(s);

  s = plain("steps_of_microseconds", 2, 12e-6);
  s.base = steady(20e-6);
  s.base_step_s = 20e-6;
  all.push_back(s);

  s = plain("steps_of_seconds", 2, 1.1);
  s.base = steady(2);
  s.base_step_s = 2;
  all.push_back(s);

  s = plain("bursts_of_others", 2, 4e-3);  // every third quarter of a second all takes twice as long
  const auto burst = [](std::int64_t, double now) { return std::fmod(now, 0.75) < 0.25 ? 2.0 : 1.0; };
  s.base = scaled(8e-3, burst);
  s.many = scaled(4e-3, burst);
  all.push_back(s);
  return all;
}

CellSpec cell(int devices, bool weak) {
  CellSpec spec;
  spec.workload = "mlp-small";
  spec.data = "clusters";
  spec.optimizer = "adam";
  spec.devices = devices;
  spec.scaling = weak ? harness::Scaling::kWeak : harness::Scaling::kStrong;
  spec.global_batch = weak ? kBatch * devices : kBatch;
  return spec;
}

class KnownDurations : public testing::TestWithParam<Situation> {};

TEST_P(KnownDurations, AreReportedWithinOnePercent) {
  const Situation& s = GetParam();
  harness::HandClock clock;
  std::vector<std::unique_ptr<SliceSource>> cells;
  cells.push_back(std::make_unique<FakeEngine>(cell(1, s.weak), s.base, clock, kSliceS));
  cells.push_back(std::make_unique<FakeEngine>(cell(s.devices, s.weak), s.many, clock, kSliceS));
  const std::vector<MeasuredCell> measured = measure_ready(
      std::move(cells), *load_data("clusters", 1).train,
      {.stopping = {.relative_half_width = 0, .most_slices = kRounds, .budget_s = 250}, .slice_s = kSliceS});
  ASSERT_TRUE(measured[0].measurement && measured[1].measurement);
  const harness::Measurement& base = *measured[0].measurement;
  const harness::Measurement& many = *measured[1].measurement;
  const auto near = [](double seen, double truth) { EXPECT_NEAR(seen / truth, 1, 0.01); };

  const double rows = s.weak ? kBatch * s.devices : kBatch;
  if (!s.only_ratio) {
    near(base.step_p50_s, s.base_step_s);
    near(many.step_p50_s, s.step_s);
    near(base.samples_per_s.value, kBatch / s.base_step_s);
    near(many.samples_per_s.value, rows / s.mean_step_s);
  }
  ASSERT_TRUE(many.speedup && many.efficiency);
  const double speedup = rows / s.mean_step_s / (kBatch / s.base_step_s);
  near(many.speedup->value, speedup);
  near(many.efficiency->value, speedup / s.devices);
  EXPECT_LE(many.speedup->low, speedup * 1.01);
  EXPECT_GE(many.speedup->high, speedup * 0.99);
  // A mean of rare or random waits.
  if (s.wait_s >= 0) {
    EXPECT_NEAR(many.phases_s.wait, s.wait_s, 0.1 * s.wait_s + 1e-9);
  }
  EXPECT_NEAR(many.phases_s.reduction, s.reduction_s, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Planted, KnownDurations, testing::ValuesIn(situations()),
                         [](const auto& situation) { return situation.param.name; });

/// Measures these behaviours on two devices together.
std::vector<MeasuredCell> measure(const std::vector<Behaviour>& behaviours, double most_disturbed = 1) {
  harness::HandClock clock;
  std::vector<std::unique_ptr<SliceSource>> cells;
  for (const Behaviour& b : behaviours) {
    CellSpec spec = cell(2, false);
    spec.seed = cells.size() + 1;  // a name of its own
    cells.push_back(std::make_unique<FakeEngine>(spec, b, clock, kSliceS));
  }
  return measure_ready(std::move(cells), *load_data("clusters", 1).train,
                       {.stopping = {.relative_half_width = 0, .most_slices = 50, .budget_s = 250},
                        .slice_s = kSliceS,
                        .most_disturbed = most_disturbed});
}

// An exchange of 1.5 ms that begins when 3/4 of the 4 ms of work are done: 1 ms of it, two thirds, is hidden.
// The overlap is read off the record: the part of the exchange that no longer shows as reduction.
TEST(KnownOverlap, IsReportedWithinOnePercent) {
  Behaviour after = steady(4e-3), during = steady(4e-3), hidden = steady(4e-3);
  after.exchange_s = during.exchange_s = hidden.exchange_s = [](std::int64_t, double) { return 1.5e-3; };
  during.exchange_from = 0.75;
  hidden.exchange_from = 0.5;
  const std::vector<MeasuredCell> measured = measure({after, during, hidden});
  const auto reduction_s = [&](std::size_t i) { return measured[i].measurement->phases_s.reduction; };
  EXPECT_NEAR(reduction_s(0), 1.5e-3, 1.5e-5);
  EXPECT_NEAR(1 - reduction_s(1) / reduction_s(0), 2.0 / 3, 0.01 * 2 / 3);
  EXPECT_NEAR(1 - reduction_s(2) / reduction_s(0), 1, 0.01);
  EXPECT_NEAR(measured[1].measurement->step_p50_s, 4.5e-3, 4.5e-5);
  EXPECT_NEAR(measured[2].measurement->speedup->value, 5.5 / 4, 0.01 * 5.5 / 4);
}

Behaviour disturbed(double share) {
  Behaviour b = steady(4e-3);
  b.clocks = [share](std::int64_t steps) {
    const auto count = static_cast<std::int64_t>(share * static_cast<double>(steps));
    return harness::Clocks{.preempted_steps = count,
                           .disturbed_steps = count,
                           .cpu_s_per_step = {4e-3, 4e-3},
                           .preemptions = {count, 0}};
  };
  return b;
}

TEST(Disturbances, AreInTheRecordAndInvalidateAboveTheShare) {
  for (const MeasuredCell& cell : measure({disturbed(0.25), disturbed(0.75)})) {
    ASSERT_TRUE(cell.measurement && cell.measurement->clocks) << "1: however many";
    EXPECT_GT(cell.measurement->clocks->disturbed_steps, 0);
    EXPECT_TRUE(cell.measurement->speedup);
  }
  const auto second = measure({disturbed(0.25), disturbed(0.75)}, 0.5);
  EXPECT_TRUE(second[0].measurement);
  ASSERT_TRUE(second[1].failure && !second[1].measurement);
  EXPECT_EQ(second[1].failure->kind, harness::ReasonKind::kDisturbed);
  EXPECT_NE(second[1].failure->text.find("steps were disturbed"), std::string::npos);
  EXPECT_NE(second[1].failure->text.find("samples/s"), std::string::npos) << "what was seen is told";
  // What others are measured against goes, and takes the ratios along.
  const auto base = measure({disturbed(0.75), disturbed(0.25)}, 0.5);
  ASSERT_TRUE(base[0].failure && base[1].measurement);
  EXPECT_FALSE(base[1].measurement->speedup || base[1].measurement->efficiency);
  EXPECT_EQ(base[1].measurement->base_key, "");
}

}  // namespace
}  // namespace mirrorscale::scenarios

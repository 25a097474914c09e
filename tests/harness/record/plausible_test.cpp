#include "harness/record/plausible.h"

#include "tests/harness/support/sample_records.h"

#include <gtest/gtest.h>

namespace mirrorscale::harness {
namespace {

// Batch 7 at 100/3 samples a second is 0.21 s a step; steps took 0.05 to 0.2 s.
TEST(PlausibleTest, TheSampleIs) {
  EXPECT_EQ(implausible(sample_cell()), "");
  EXPECT_EQ(implausible(failed_cell()), "");
  EXPECT_EQ(implausible(sample_run(), "2024-06-07T09:31:00Z"), "");
}

TEST(PlausibleTest, AClockThatJumpsBack) {
  CellRecord cell = sample_cell();
  cell.measurement->slice_start_s = {1.5, 0.5};
  EXPECT_NE(implausible(cell).find("the clock jumped"), std::string::npos);
}

TEST(PlausibleTest, AClockThatJumpsForward) {
  CellRecord cell = sample_cell();
  cell.measurement->slice_start_s = {0.5, 0.5 + 86000};
  EXPECT_EQ(implausible(cell), "") << "other cells may take their time";
  cell.measurement->slice_start_s = {0.5, 0.5 + 87000};
  EXPECT_NE(implausible(cell).find("the clock jumped"), std::string::npos);
}

TEST(PlausibleTest, StepsOutOfOrderOrOfNoTime) {
  CellRecord cell = sample_cell();
  cell.measurement->step_min_s = 0;
  EXPECT_NE(implausible(cell).find("contradict"), std::string::npos);
  cell = sample_cell();
  cell.measurement->step_p50_s = 0.21;  // above the 95th percentile
  EXPECT_NE(implausible(cell).find("contradict"), std::string::npos);
}

TEST(PlausibleTest, CpuTimeInAnotherUnit) {
  CellRecord cell = sample_cell();
  cell.measurement->clocks = Clocks{.cpu_s_per_step = {0.2, 0.19}, .preemptions = {0, 0}};
  EXPECT_EQ(implausible(cell), "");
  for (double& seconds : cell.measurement->clocks->cpu_s_per_step) seconds *= 1e3;
  EXPECT_NE(implausible(cell).find("cpu_s_per_step"), std::string::npos);
}

TEST(PlausibleTest, ThroughputInAnotherUnit) {
  for (const double factor : {1e3, 1e-3}) {
    CellRecord cell = sample_cell();
    cell.measurement->samples_per_s.value *= factor;
    EXPECT_NE(implausible(cell).find("a unit is wrong"), std::string::npos) << factor;
    cell.emulated = true;
    EXPECT_EQ(implausible(cell), "") << "emulated times mean nothing anyway";
  }
}

TEST(PlausibleTest, StepsInAnotherUnit) {
  CellRecord cell = sample_cell();
  Measurement& m = *cell.measurement;
  for (double* field : {&m.step_min_s, &m.step_p50_s, &m.step_p95_s}) *field *= 1e3;
  for (double& step : m.step_s) step *= 1e3;
  EXPECT_NE(implausible(cell), "");
}

TEST(PlausibleTest, ALaunchFromTheFuture) {
  EXPECT_NE(implausible(sample_run(), "2024-06-01T00:00:00Z").find("clocks is wrong"), std::string::npos);
  EXPECT_EQ(implausible(sample_run(), "2024-06-06T10:00:00Z"), "") << "within a day: time zones, slow clocks";
}

}  // namespace
}  // namespace mirrorscale::harness

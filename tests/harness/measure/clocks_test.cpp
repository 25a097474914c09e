// What is counted beside time: of threads, cores, the machine and GPUs.
#include "harness/measure/slice_clocks.h"
#include "tests/harness/support/temporary_folder.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdexcept>
#include <thread>

namespace mirrorscale::harness {
namespace {

using namespace std::chrono_literals;

double work_for(double cpu_s, const ThreadClock& clock) {
  const double begin = clock.now().cpu_s;
  volatile double sum = 0;
  while (clock.now().cpu_s - begin < cpu_s) {
    for (int i = 0; i < 1000; ++i) sum = sum + i;
  }
  return clock.now().cpu_s - begin;
}

TEST(ThreadClock, CountsWorkAndNotSleep) {
  std::thread([] {
    const ThreadClock clock;
    const ThreadUse before = clock.now();
    std::this_thread::sleep_for(30ms);
    EXPECT_LT(clock.now().cpu_s - before.cpu_s, 0.02);
    EXPECT_GE(work_for(0.02, clock), 0.02);
  }).join();
}

// Two threads that never rest, on one core: each is taken off it for the other, and waits as long as it
// works.
TEST(ThreadClock, CountsTheWaitForACore) {
  const auto busy = [](int core, ThreadUse& use) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    const ThreadClock clock;
    work_for(0.06, clock);
    use = clock.now();
  };
  ThreadUse first, second;
  const int core = current_core();
  std::thread other(busy, core, std::ref(first));
  std::thread(busy, core, std::ref(second)).join();
  other.join();
  EXPECT_GT(first.preemptions + second.preemptions, 0);
  if (!first.core_wait_s) GTEST_SKIP() << "this system has no schedstat";
  EXPECT_GT(*first.core_wait_s + *second.core_wait_s, 0.03);
}

TEST(InstructionCounter, CountsOrSaysWhyNot) {
  const InstructionCounter counter;
  const auto before = counter.now();
  work_for(0.01, ThreadClock());
  const auto after = counter.now();
  if (!counter.why_not().empty()) {
    EXPECT_FALSE(before || after);
    EXPECT_TRUE(counter.why_not().find("perf_event_paranoid") != std::string::npos ||
                counter.why_not().find("no counter of instructions") != std::string::npos)
        << counter.why_not();
  } else if (before && after) {
    EXPECT_GT(*after - *before, 1e5);
  }
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(CoreSensor, ReadsWhatTheSystemTells) {
  const TemporaryFolder folder;
  const CoreSensor sensor(folder.path().string());
  EXPECT_FALSE(sensor.read(3).hz || sensor.read(3).throttles);
  write(folder / "cpu3/cpufreq/scaling_cur_freq", "2900000\n");
  write(folder / "cpu3/thermal_throttle/core_throttle_count", "7\n");
  EXPECT_EQ(sensor.read(3).hz, 2.9e9);
  EXPECT_EQ(sensor.read(3).throttles, 7);
  EXPECT_FALSE(sensor.read(1).hz);
}

TEST(MachineTime, ReadsStolenTime) {
  const TemporaryFolder folder;
  EXPECT_FALSE(machine_time((folder / "none").string()));
  write(folder / "stat", "cpu  100 0 50 800 20 0 5 25 9 9\ncpu0 1 2 3\n");
  const auto time = machine_time((folder / "stat").string());
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->stolen_s / time->all_s, 0.025, 1e-12);
  write(folder / "old", "cpu  100 0 50 800\n");
  EXPECT_FALSE(machine_time((folder / "old").string()));
}

SliceUse use(double core_wait_s, std::int64_t throttles = 0) {
  return {.cpu_s = 0.008,
          .preemptions = 2,
          .core_wait_s = core_wait_s,
          .instructions = 1e6,
          .throttles = throttles};
}

TEST(ClockSums, DisturbedStepsAreCountedOnce) {
  ClockSums sums(2);
  sums.add(4, 0.01, {use(0), use(0.0004)}, false);    // quiet: 4 % of the slice is allowed
  sums.add(4, 0.01, {use(0), use(0.0006)}, false);    // preempted
  sums.add(3, 0.01, {use(0.002), use(0, 1)}, false);  // preempted, and a core was hot
  sums.add(1, 0.01, {use(0), use(0)}, true);          // a GPU was slowed down
  const Clocks clocks = sums.clocks();
  EXPECT_EQ(clocks.preempted_steps, 7);
  EXPECT_EQ(clocks.throttled_steps, 4);
  EXPECT_EQ(clocks.disturbed_steps, 8);
  EXPECT_EQ(clocks.preemptions, (std::vector<std::int64_t>{8, 8}));
  ASSERT_EQ(clocks.core_wait_s_per_step.size(), 2u);
  EXPECT_NEAR(clocks.core_wait_s_per_step[1], 0.001 / 12, 1e-15);
  EXPECT_NEAR(clocks.cpu_s_per_step[0], 4 * 0.008 / 12, 1e-15);
  EXPECT_NEAR(clocks.instructions_per_step[0], 4e6 / 12, 1e-6);
  EXPECT_FALSE(clocks.core_hz);
}

TEST(ClockSums, WithoutTheWaitSwitchesDecide) {
  ClockSums sums(1);
  sums.add(2, 0.01, {{.preemptions = 1}}, false);
  sums.add(2, 0.01, {{.preemptions = 0}}, false);
  EXPECT_EQ(sums.clocks().preempted_steps, 2);
  EXPECT_TRUE(sums.clocks().core_wait_s_per_step.empty()) << "0 s would be a claim";
  EXPECT_TRUE(sums.clocks().instructions_per_step.empty());
}

TEST(SliceClocks, EveryGapHasAReason) {
  SliceClocks clocks(1, {});
  for (int slice = 0; slice < 3; ++slice) {
    clocks.begin(0);
    work_for(0.005, ThreadClock());
    clocks.end(0);
    clocks.add_slice(2, 0.01);
  }
  const Clocks seen = clocks.clocks();
  EXPECT_GE(seen.cpu_s_per_step.at(0), 0.0025);
  EXPECT_EQ(seen.instructions_per_step.empty(), seen.not_measured.contains("instructions_per_step"));
  EXPECT_EQ(!seen.core_hz, seen.not_measured.contains("core_hz"));
  EXPECT_EQ(!seen.steal_share, seen.not_measured.contains("steal_share"));
  EXPECT_FALSE(seen.not_measured.contains("gpus")) << "there are none to read";
}

TEST(GpuSensor, WithoutTheLibraryItSaysSo) {
  const GpuSensor sensor("libno-such-library.so.1");
  EXPECT_NE(sensor.why_not().find("libno-such-library.so.1"), std::string::npos);
  EXPECT_THROW(sensor.read("GPU-stand-in"), std::logic_error);
  EXPECT_NE(GpuSensor("libc.so.6").why_not().find("has no nvmlInit_v2"), std::string::npos);
}

TEST(GpuSensor, ReadsWhatTheDriverTells) {
  const GpuSensor sensor(STAND_IN_NVML);
  ASSERT_EQ(sensor.why_not(), "");
  const double before = sensor.read("GPU-stand-in").sm_hz.value();
  const GpuState state = sensor.read("GPU-stand-in");
  EXPECT_EQ(state.sm_hz, before - 10e6);
  EXPECT_FALSE(state.memory_hz) << "what this model doesn't tell";
  EXPECT_EQ(state.temperature_c, 61);
  EXPECT_EQ(state.power_w, 500.25);
  EXPECT_EQ(state.throttle_reasons, std::vector<std::string>{"power cap"});
  EXPECT_THROW(sensor.read("GPU-of-another-machine"), std::runtime_error);
}

TEST(GpuSensor, ADriverThatIsNotThereIsSaid) {
  setenv("MIRRORSCALE_STAND_IN_NVML", "no-driver", 1);
  const GpuSensor sensor(STAND_IN_NVML);
  unsetenv("MIRRORSCALE_STAND_IN_NVML");
  EXPECT_NE(sensor.why_not().find("Driver Not Loaded"), std::string::npos);
}

}  // namespace
}  // namespace mirrorscale::harness

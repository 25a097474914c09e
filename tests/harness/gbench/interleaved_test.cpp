#include "harness/gbench/interleaved.h"

#include <chrono>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <time.h>
#include <vector>

namespace mirrorscale::harness {
namespace {

/// A cell that only says how long it took, and keeps a log of who ran.
TimedCell pretender(const std::string& name, double step_s, std::vector<std::string>& log, int steps = 10) {
  return {.name = name,
          .run_steps =
              [name, step_s, &log](int steps_to_run) {
                log.push_back(name);
                return step_s * steps_to_run;
              },
          .steps_per_slice = steps,
          .samples_per_step = 64};
}

const auto kRounds = [](int rounds) {
  return [rounds](InterleavedRun& run) { return run.rounds() < rounds; };
};

TEST(InterleavedRun, EveryCellOncePerRoundWithItsManualTime) {
  std::vector<std::string> log;
  InterleavedRun run(
      {pretender("a", 0.001, log), pretender("b", 0.002, log, 5), pretender("c", 0.5, log, 1)});
  run.run(kRounds(20));
  ASSERT_EQ(log.size(), 60u);
  for (std::size_t round = 0; round < 20; ++round) {
    EXPECT_EQ(std::set<std::string>(log.begin() + static_cast<long>(3 * round),
                                    log.begin() + static_cast<long>(3 * round) + 3)
                  .size(),
              3u);
  }
  ASSERT_EQ(run.timings().size(), 3u);
  for (const CellTiming& timing : run.timings()) {
    EXPECT_EQ(timing.error, "");
    ASSERT_EQ(timing.slices.size(), 20u);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(timing.slices[i].round, static_cast<int>(i));
  }
  EXPECT_DOUBLE_EQ(run.timings()[0].slices[7].seconds, 0.01);
  EXPECT_DOUBLE_EQ(run.timings()[0].samples_per_s()[7], 64 / 0.001);
  EXPECT_DOUBLE_EQ(run.timings()[1].samples_per_s()[7], 64 / 0.002);
}

TEST(InterleavedRun, OrderIsRandomAndFollowsTheSeed) {
  const auto order = [](std::uint64_t seed) {
    std::vector<std::string> log;
    InterleavedRun run({pretender("a", 1, log), pretender("b", 1, log), pretender("c", 1, log)}, seed);
    run.run(kRounds(100));
    return log;
  };
  const auto first = order(1);
  EXPECT_EQ(first, order(1));
  EXPECT_NE(first, order(2));
  // Each of the six orders comes up: a share of 1/6 of 100 rounds, and never none.
  std::set<std::string> orders;
  int a_first = 0;
  for (std::size_t i = 0; i < first.size(); i += 3) {
    orders.insert(first[i] + first[i + 1] + first[i + 2]);
    a_first += first[i] == "a" ? 1 : 0;
  }
  EXPECT_EQ(orders.size(), 6u);
  EXPECT_NEAR(a_first, 33, 15);
}

TEST(InterleavedRun, AThrowingCellIsOutAndTheOthersGoOn) {
  std::vector<std::string> log;
  int calls = 0;
  TimedCell bad{.name = "bad",
                .run_steps = [&calls](int) -> double {
                  if (++calls == 3) throw std::runtime_error("[all_reduce] replica 1 failed");
                  return 0.001;
                },
                .steps_per_slice = 1,
                .samples_per_step = 1};
  InterleavedRun run({pretender("a", 0.001, log), bad});
  run.run(kRounds(10));
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(run.timings()[0].slices.size(), 10u);
  EXPECT_EQ(run.timings()[1].slices.size(), 2u);
  EXPECT_EQ(run.timings()[1].error, "[all_reduce] replica 1 failed");
  EXPECT_FALSE(run.active(1));
}

TEST(InterleavedRun, ATimeThatIsNoTimeIsAnError) {
  for (const double seconds : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    InterleavedRun run({{.name = "a",
                         .run_steps = [&](int) { return seconds; },
                         .steps_per_slice = 3,
                         .samples_per_step = 1}});
    run.run(kRounds(5));
    EXPECT_TRUE(run.timings()[0].slices.empty());
    EXPECT_NE(run.timings()[0].error.find("3 steps are said to have taken"), std::string::npos);
    EXPECT_EQ(run.rounds(), 1) << "nothing is left to run";
  }
  InterleavedRun odd({{.name = "a",
                       .run_steps = [](int) -> double { throw 7; },
                       .steps_per_slice = 1,
                       .samples_per_step = 1}});
  odd.run(kRounds(5));
  EXPECT_EQ(odd.timings()[0].error, "threw something that is no std::exception");
}

TEST(InterleavedRun, RetiredCellsKeepTheirSlicesAndPairsAreByRound) {
  std::vector<std::string> log;
  InterleavedRun run({pretender("a", 0.001, log), pretender("b", 0.004, log)});
  run.run([](InterleavedRun& r) {
    if (r.rounds() == 4) r.retire(1);
    return r.rounds() < 9;
  });
  EXPECT_EQ(run.timings()[0].slices.size(), 9u);
  EXPECT_EQ(run.timings()[1].slices.size(), 4u);
  const PairedSlices pairs = pair_slices(run.timings()[0], run.timings()[1]);
  EXPECT_EQ(pairs.first_samples_per_s, std::vector<double>(4, 64000));
  EXPECT_EQ(pairs.second_samples_per_s, std::vector<double>(4, 16000));
}

TEST(PairSlices, OnlyCommonRounds) {
  const auto timing = [](std::vector<int> rounds) {
    CellTiming cell{.name = "x", .steps_per_slice = 1, .samples_per_step = 1};
    for (const int round : rounds) cell.slices.push_back({.round = round, .seconds = 1.0 / (round + 1)});
    return cell;
  };
  const PairedSlices pairs = pair_slices(timing({0, 1, 3, 6}), timing({1, 2, 3, 4, 5}));
  EXPECT_EQ(pairs.first_samples_per_s, (std::vector<double>{2, 4}));
  EXPECT_EQ(pairs.second_samples_per_s, (std::vector<double>{2, 4}));
}

TEST(InterleavedRun, CpuTimeIsThatOfAllThreads) {
  // Until this thread has had its CPU time, however long a loaded machine takes to give it.
  const auto burn = [](double seconds) {
    const auto used_s = [] {
      timespec used{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
      return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
    };
    const double end_s = used_s() + seconds;
    while (used_s() < end_s) {
    }
  };
  InterleavedRun run({{.name = "two threads",
                       .run_steps =
                           [&](int) {
                             std::thread other([&] { burn(0.05); });
                             burn(0.05);
                             other.join();
                             return 0.05;
                           },
                       .steps_per_slice = 1,
                       .samples_per_step = 1},
                      {.name = "sleeper",
                       .run_steps =
                           [](int) {
                             std::this_thread::sleep_for(std::chrono::milliseconds(50));
                             return 0.05;
                           },
                       .steps_per_slice = 1,
                       .samples_per_step = 1}});
  run.run(kRounds(3));
  double busy = 0, idle = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    busy += run.timings()[0].slices[i].cpu_s;
    idle += run.timings()[1].slices[i].cpu_s;
  }
  EXPECT_GE(busy, 3 * 0.1 * 0.99);
  EXPECT_LT(idle, 0.05);
}

TEST(InterleavedRun, StartsAreInOrderOfTime) {
  std::vector<std::string> log;
  InterleavedRun run({pretender("a", 1, log), pretender("b", 1, log)});
  run.run(kRounds(5));
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_GT(run.timings()[0].slices[i].start_s, run.timings()[0].slices[i - 1].start_s);
    EXPECT_GT(run.timings()[0].slices[i].start_s, run.timings()[1].slices[i - 1].start_s);
  }
  EXPECT_GE(run.elapsed_s(), run.timings()[0].slices[4].start_s);
}

TEST(InterleavedRun, PrintsNothing) {
  std::vector<std::string> log;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  InterleavedRun run({pretender("a/b:1 (x)", 1, log)});
  run.run(kRounds(3));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(run.timings()[0].slices.size(), 3u);
}

TEST(InterleavedRun, MisuseIsRefused) {
  std::vector<std::string> log;
  const TimedCell good = pretender("a", 1, log);
  const auto refused = [&](const std::function<void(TimedCell&)>& change) {
    TimedCell cell = good;
    change(cell);
    EXPECT_THROW(InterleavedRun({cell}), std::invalid_argument);
  };
  EXPECT_THROW(InterleavedRun({}), std::invalid_argument);
  EXPECT_THROW(InterleavedRun({good, good}), std::invalid_argument);
  refused([](TimedCell& c) { c.name.clear(); });
  refused([](TimedCell& c) { c.run_steps = nullptr; });
  refused([](TimedCell& c) { c.steps_per_slice = 0; });
  refused([](TimedCell& c) { c.samples_per_step = 0; });
}

}  // namespace
}  // namespace mirrorscale::harness

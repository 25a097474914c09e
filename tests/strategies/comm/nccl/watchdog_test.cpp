#include "strategies/comm/nccl/watchdog.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace mirrorscale::strategies::nccl {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(Watchdog, TellsOnceOfAWaitThatIsTooLong) {
  std::atomic<int> told{0};
  Watchdog watchdog(
      2, 50ms,
      [&] {
        ++told;
        told.notify_all();
      },
      [] {});
  EXPECT_EQ(watchdog.waiting_for(1), "");
  const auto start = Clock::now();
  watchdog.begin(1, "Godot");
  told.wait(0);
  EXPECT_GE(Clock::now() - start, 50ms);
  EXPECT_EQ(watchdog.waiting_for(1), "Godot");
  std::this_thread::sleep_for(120ms);
  EXPECT_EQ(told, 1);
  watchdog.end(1);
  watchdog.begin(1, "him again");
  told.wait(1);
  EXPECT_EQ(told, 2);
  watchdog.end(1);
}

TEST(Watchdog, WaitsThatEndInTimeAreFine) {
  std::atomic<int> told{0};
  {
    Watchdog watchdog(
        3, 200ms, [&] { ++told; }, [] {});
    for (int i = 0; i < 30; ++i) {
      watchdog.begin(i % 3, "a moment");
      std::this_thread::sleep_for(10ms);
      watchdog.end(i % 3);
    }
    std::this_thread::sleep_for(250ms);
  }
  EXPECT_EQ(told, 0);
}

TEST(Watchdog, TheOutermostWaitCounts) {
  std::atomic<int> told{0};
  Watchdog watchdog(
      1, 100ms,
      [&] {
        ++told;
        told.notify_all();
      },
      [] {});
  watchdog.begin(0, "outer");
  for (int i = 0; i < 4; ++i) {
    watchdog.begin(0, "inner");
    std::this_thread::sleep_for(40ms);
    watchdog.end(0);
  }
  told.wait(0);
  EXPECT_EQ(watchdog.waiting_for(0), "outer");
  watchdog.end(0);
}

TEST(Watchdog, EndsWhileARankWaits) {
  Watchdog watchdog(
      1, 1h, [] {}, [] {});
  watchdog.begin(0, "never");
}

TEST(Watchdog, LooksAroundWhileARankWaitsAndOnlyThen) {
  std::atomic<int> looks{0};
  Watchdog watchdog(
      2, 1h, [] {},
      [&] {
        ++looks;
        looks.notify_all();
      });
  watchdog.begin(0, "a long time");
  looks.wait(0);
  looks.wait(1);
  watchdog.end(0);
  std::this_thread::sleep_for(600ms);  // the look that was under way is over
  const int before = looks.load();
  std::this_thread::sleep_for(600ms);
  EXPECT_EQ(looks, before);
}

}  // namespace
}  // namespace mirrorscale::strategies::nccl

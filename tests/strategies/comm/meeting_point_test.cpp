#include "strategies/comm/meeting_point.h"

#include "strategies/comm/failure.h"
#include "tests/strategies/support/expect_throw.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using namespace std::chrono_literals;
using testing::expect_throw;

/// Runs `body` for each rank on a thread of its own, and waits for all.
void on_threads(int ranks, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) threads.emplace_back([&body, r] { body(r); });
  for (std::thread& thread : threads) thread.join();
}

class MeetingPointTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Cores, MeetingPointTest, ::testing::Bool(),
                         [](const auto& cores) { return cores.param ? "own" : "shared"; });

TEST_P(MeetingPointTest, NobodyLeavesARoundBeforeAllHaveEnteredIt) {
  constexpr int kRanks = 3, kRounds = 300;
  MeetingPoint meeting(kRanks, 60s, GetParam());
  std::vector<int> entered(kRanks);  // plain: the meeting alone orders writes and reads
  std::atomic<int> wrong = 0;
  on_threads(kRanks, [&](int rank) {
    for (int round = 1; round <= kRounds; ++round) {
      entered[static_cast<std::size_t>(rank)] = round;
      meeting.meet(rank, "entered");
      for (const int e : entered) wrong += e != round;
      meeting.meet(rank, "read");
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(MeetingPointTest, NamesTheRankThatDoesNotCome) {
  MeetingPoint meeting(3, 50ms, GetParam());
  std::atomic<int> freed = 0;
  on_threads(2, [&](int rank) {
    expect_throw<GroupBroken>([&] { meeting.meet(rank, "the fair"); },
                              {"waited at 'the fair'", "rank 2 did not arrive", "within 50 ms"});
    ++freed;
  });
  EXPECT_EQ(freed, 2);
  EXPECT_TRUE(meeting.broken());
}

TEST_P(MeetingPointTest, NamesAllWhoDoNotCome) {
  MeetingPoint meeting(4, 30ms, GetParam());
  expect_throw<GroupBroken>([&] { meeting.meet(2, "x"); }, {"rank 0, 1, 3 did not arrive at 'x'"});
}

TEST_P(MeetingPointTest, ARankThatFailsFreesTheOthersAtOnce) {
  MeetingPoint meeting(3, 60s, GetParam());
  const auto start = std::chrono::steady_clock::now();
  on_threads(3, [&](int rank) {
    if (rank == 1) {
      std::this_thread::sleep_for(20ms);  // so that the others wait, most likely asleep
      meeting.break_up(1, "out of paper");
      return;
    }
    expect_throw<GroupBroken>([&] { meeting.meet(rank, "print"); }, {"rank 1 failed: out of paper"});
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
  expect_throw<GroupBroken>([&] { meeting.meet(0, "later"); }, {"'later'", "out of paper"});
}

TEST_P(MeetingPointTest, NamesTheRightRankAfterAReset) {
  MeetingPoint meeting(3, 40ms, GetParam());
  on_threads(2, [&](int rank) { EXPECT_THROW(meeting.meet(rank, "first"), GroupBroken); });
  meeting.reset();
  // Rank 1 came last time; now it is the one who is missing.
  on_threads(2, [&](int i) {
    expect_throw<GroupBroken>([&] { meeting.meet(2 * i, "second"); }, {"rank 1 did not arrive at 'second'"});
  });
  meeting.reset();
  on_threads(3, [&](int rank) { EXPECT_NO_THROW(meeting.meet(rank, "third")); });
}

TEST(MeetingPoint, OfOneRankNeverWaits) {
  MeetingPoint meeting(1, 1ms, true);
  for (int i = 0; i < 3; ++i) EXPECT_NO_THROW(meeting.meet(0, "alone"));
}

}  // namespace
}  // namespace mirrorscale::strategies

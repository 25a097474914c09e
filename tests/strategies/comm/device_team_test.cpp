#include "strategies/comm/threads/device_team.h"

#include "kernels/device_error.h"
#include "strategies/comm/failure.h"
#include "strategies/comm/placement.h"
#include "tests/strategies/support/expect_throw.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using namespace std::chrono_literals;
using testing::expect_throw;

TEST(DeviceTeam, RunsTheBodyOnceARankOnAThreadOfItsOwn) {
  DeviceTeam team(4);
  ASSERT_EQ(team.size(), 4);
  std::vector<std::thread::id> threads(4);
  for (int run = 0; run < 2; ++run) {
    std::vector<int> calls(4);
    std::vector<std::thread::id> seen(4);
    team.run([&](Communicator& seat) {
      ++calls[static_cast<std::size_t>(seat.rank())];
      seen[static_cast<std::size_t>(seat.rank())] = std::this_thread::get_id();
      EXPECT_EQ(seat.size(), 4);
    });
    EXPECT_EQ(calls, std::vector<int>(4, 1));
    EXPECT_EQ(std::set<std::thread::id>(seen.begin(), seen.end()).size(), 4U);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), std::this_thread::get_id()), 0);
    if (run == 0) threads = seen;
    EXPECT_EQ(seen, threads) << "the threads live as long as the team";
  }
}

TEST(DeviceTeam, BindsRanksToUnitsRoundRobin) {
  const std::vector<int> usable = usable_units();
  const int ranks = static_cast<int>(usable.size()) + 1;
  DeviceTeam team(ranks);
  for (int r = 0; r < ranks; ++r) {
    EXPECT_EQ(team.units()[static_cast<std::size_t>(r)], usable[static_cast<std::size_t>(r) % usable.size()]);
  }
  DeviceTeam loose(2, {.pin = false});
  EXPECT_EQ(loose.units(), std::vector<int>(2, -1));
}

TEST(DeviceTeam, RefusesNoRanks) {
  expect_throw<std::invalid_argument>([] { DeviceTeam team(0); }, {"[team]", "at least 1", "0"});
}

TEST(DeviceTeam, ARankThatThrowsFreesTheOthersAndIsNamed) {
  DeviceTeam team(4, {.limit = 20s});  // never waited for
  for (int culprit = 0; culprit < 4; ++culprit) {
    std::atomic<int> freed = 0;
    expect_throw<std::runtime_error>(
        [&] {
          team.run([&](Communicator& seat) {
            if (seat.rank() == culprit) throw std::runtime_error("no more ink");
            try {
              seat.barrier("the press");
            } catch (const GroupBroken&) {
              ++freed;
              throw;
            }
          });
        },
        {("rank " + std::to_string(culprit) + ": no more ink").c_str()});
    EXPECT_EQ(freed, 3);
  }
}

TEST(DeviceTeam, KeepsTheKindOfTheException) {
  DeviceTeam team(2);
  const auto failing = [&](auto error) {
    return [&team, error] {
      team.run([&](Communicator& seat) {
        if (seat.rank() == 1) throw error;
        seat.barrier("x");
      });
    };
  };
  expect_throw<std::invalid_argument>(failing(std::invalid_argument("bad")), {"rank 1: bad"});
  expect_throw<std::logic_error>(failing(std::logic_error("bug")), {"rank 1: bug"});
  EXPECT_THROW(failing(std::bad_alloc())(), std::bad_alloc);
  EXPECT_THROW(failing(42)(), int);
}

TEST(DeviceTeam, TellsOfAFailedDeviceWhateverFailedBefore) {
  DeviceTeam team(3);
  std::atomic<int> thrown{0};
  expect_throw<kernels::DeviceFailed>(
      [&] {
        team.run([&](Communicator& seat) {
          if (seat.rank() == 2) {  // the last to fail
            while (thrown.load() < 2) std::this_thread::yield();
            std::this_thread::sleep_for(20ms);
            throw kernels::DeviceFailed("cuda:2", "fell off the bus");
          }
          ++thrown;
          if (seat.rank() == 0) throw GroupBroken("another rank left");
          throw std::runtime_error("a collective failed");
        });
      },
      {"cuda:2 failed: fell off the bus"});
}

TEST(DeviceTeam, WorksAgainAfterAFailure) {
  DeviceTeam team(3);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(team.run([&](Communicator& seat) {
      // Some ranks are in the first meeting, some in the second, when rank i % 3 fails.
      if (seat.rank() != i % 3) seat.barrier("first");
      throw std::runtime_error("again");
    }),
                 std::runtime_error);
    std::vector<float> sums(3);
    team.run([&](Communicator& seat) {
      float value = 1;
      seat.all_reduce({&value, 1}, ReduceOp::kSum);
      sums[static_cast<std::size_t>(seat.rank())] = value;
    });
    EXPECT_EQ(sums, std::vector<float>(3, 3.0F));
  }
}

TEST(DeviceTeam, ARankThatLeavesEarlyIsNamed) {
  DeviceTeam team(3, {.limit = 200ms});
  expect_throw<GroupBroken>(
      [&] {
        team.run([](Communicator& seat) {
          if (seat.rank() != 1) seat.barrier("supper");
        });
      },
      {"rank 1 did not arrive at 'supper'", "within 200 ms"});
}

TEST(DeviceTeam, ALateRankIsNamedAndTheTeamLives) {
  DeviceTeam team(3, {.limit = 200ms});
  // Back within the limit after the group broke: late, not lost.
  expect_throw<GroupBroken>(
      [&] {
        team.run([](Communicator& seat) {
          if (seat.rank() == 2) std::this_thread::sleep_for(300ms);
          seat.barrier("roll call");
        });
      },
      {"rank 2 did not arrive at 'roll call'"});
  std::atomic<int> count = 0;
  team.run([&](Communicator& seat) {
    seat.barrier("again");
    ++count;
  });
  EXPECT_EQ(count, 3);
}

TEST(DeviceTeam, ARankThatNeverComesIsLost) {
  // Owned by the body too, which lives on with the lost rank.
  struct Signals {
    std::promise<void> release, done;
  };
  const auto signals = std::make_shared<Signals>();
  auto team = std::make_unique<DeviceTeam>(3, TeamOptions{.limit = 200ms});
  const auto start = std::chrono::steady_clock::now();
  expect_throw<RankLost>(
      [&] {
        team->run([signals](Communicator& seat) {
          if (seat.rank() == 1) {
            signals->release.get_future().wait();
            signals->done.set_value();
            return;
          }
          seat.barrier("the bus");
        });
      },
      {"rank 1 did not come back within 200 ms", "rank 1 did not arrive at 'the bus'"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
  expect_throw<RankLost>([&] { team->run([](Communicator&) {}); }, {"make a new team"});
  team.reset();  // nothing hangs; the lost thread goes on alone
  signals->release.set_value();
  signals->done.get_future().wait();
}

TEST(DeviceTeam, MayWorkAsLongAsNobodyWaits) {
  DeviceTeam team(2, {.limit = 30ms});
  EXPECT_NO_THROW(team.run([](Communicator&) { std::this_thread::sleep_for(150ms); }));
}

TEST(DeviceTeam, RefusesARunWithinARun) {
  DeviceTeam team(2);
  expect_throw<std::logic_error>(
      [&] {
        team.run([&](Communicator& seat) {
          if (seat.rank() == 0) team.run([](Communicator&) {});
          seat.barrier("x");
        });
      },
      {"rank 0", "while a run is going on"});
}

TEST(DeviceTeam, SeveralTeamsLiveSideBySide) {
  DeviceTeam a(2), b(3);
  std::atomic<int> ranks = 0;
  std::thread other([&] {
    for (int i = 0; i < 50; ++i) b.run([&](Communicator& seat) { seat.barrier("b"), ++ranks; });
  });
  for (int i = 0; i < 50; ++i) a.run([&](Communicator& seat) { seat.barrier("a"), ++ranks; });
  other.join();
  EXPECT_EQ(ranks, 250);
}

}  // namespace
}  // namespace mirrorscale::strategies

#include "strategies/comm/failure.h"
#include "strategies/comm/threads/device_team.h"
#include "strategies/input/shard_tree.h"
#include "tests/strategies/support/bits.h"
#include "tests/strategies/support/data.h"
#include "tests/strategies/support/expect_throw.h"

#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using testing::expect_throw;
using testing::random_unit;
using testing::same_bits;
using Values = std::vector<std::vector<float>>;  // by rank

Values all_reduced(Values values, ReduceOp op) {
  DeviceTeam team(static_cast<int>(values.size()));
  team.run([&](Communicator& seat) { seat.all_reduce(values[static_cast<std::size_t>(seat.rank())], op); });
  return values;
}

Values everywhere(std::size_t ranks, const std::vector<float>& value) {
  return Values(ranks, value);
}

TEST(AllReduce, OfPaperCases) {
  EXPECT_EQ(all_reduced({{1}, {3}}, ReduceOp::kSum), everywhere(2, {4}));  // A1, A3
  EXPECT_EQ(all_reduced({{39, 2}, {3, 41}}, ReduceOp::kSum), everywhere(2, {42, 43}));
  EXPECT_EQ(all_reduced({{1}, {3}}, ReduceOp::kMean), everywhere(2, {2}));  // A2, A3
  EXPECT_EQ(all_reduced({{39, 2}, {3, 41}}, ReduceOp::kMean), everywhere(2, {21, 21.5F}));
  EXPECT_EQ(all_reduced({{1, 2}, {3, 4}}, ReduceOp::kSum), everywhere(2, {4, 6}));  // A7
  EXPECT_EQ(all_reduced({{1, 2}, {3, 4}}, ReduceOp::kMean), everywhere(2, {2, 3}));
  const Values four = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  EXPECT_EQ(all_reduced(four, ReduceOp::kSum), everywhere(4, {16, 20}));
  EXPECT_EQ(all_reduced(four, ReduceOp::kMean), everywhere(4, {4, 5}));
  EXPECT_EQ(all_reduced({{1}, {2}}, ReduceOp::kSum), everywhere(2, {3}));  // A8
  EXPECT_EQ(all_reduced({{1}, {2}}, ReduceOp::kMean), everywhere(2, {1.5F}));
  EXPECT_EQ(all_reduced({{1}, {2}, {3}, {4}}, ReduceOp::kSum), everywhere(4, {10}));
  EXPECT_EQ(all_reduced({{1}, {2}, {3}, {4}}, ReduceOp::kMean), everywhere(4, {2.5F}));
  EXPECT_EQ(all_reduced({{7, 8}}, ReduceOp::kMean), everywhere(1, {7, 8}));
  EXPECT_EQ(all_reduced({{}, {}}, ReduceOp::kSum), everywhere(2, {}));
}

TEST(AllReduce, AddsInTheOrderOfTheTree) {
  // (2^24 + 1) + (1 + 1) = 2^24 + 2, but from left to right 2^24 + 1 stays 2^24 and so do the others.
  const float big = 0x1p24F;
  EXPECT_EQ(all_reduced({{big}, {1}, {1}, {1}}, ReduceOp::kSum), everywhere(4, {big + 2}));
  EXPECT_EQ(all_reduced({{1}, {1}, {big}, {1}}, ReduceOp::kSum), everywhere(4, {big + 2}));
  // Five ranks: ((0 + 1) + (2 + 3)) + 4.
  EXPECT_EQ(all_reduced({{1}, {1}, {1}, {1}, {big}}, ReduceOp::kSum), everywhere(5, {big + 4}));
}

TEST(AllReduce, RefusesDifferentLengths) {
  DeviceTeam team(3);
  expect_throw<std::invalid_argument>(
      [&] {
        team.run([](Communicator& seat) {
          std::vector<float> mine(seat.rank() == 1 ? 4U : 3U);
          seat.all_reduce(mine, ReduceOp::kSum);
        });
      },
      {"[all_reduce]", " has 3", " has 4"});
  EXPECT_NO_THROW(team.run([](Communicator& seat) { seat.barrier("after a refusal"); }));
}

TEST(Broadcast, GivesEveryRankTheRootsValues) {
  DeviceTeam team(4);
  for (int root = 0; root < 4; ++root) {
    Values values = {{0, 0}, {1, 10}, {2, 20}, {3, 30}};
    const std::vector<float> sent = values[static_cast<std::size_t>(root)];
    team.run(
        [&](Communicator& seat) { seat.broadcast(values[static_cast<std::size_t>(seat.rank())], root); });
    EXPECT_EQ(values, everywhere(4, sent));
  }
}

TEST(Broadcast, RefusesARootOrALengthThatDoesNotFit) {
  DeviceTeam team(2);
  std::vector<float> values(3);
  expect_throw<std::invalid_argument>([&] { team.run([&](Communicator& seat) { seat.broadcast({}, 2); }); },
                                      {"[broadcast]", "root is 2", "0 to 1"});
  expect_throw<std::invalid_argument>(
      [&] {
        team.run([](Communicator& seat) {
          std::vector<float> mine(seat.rank() == 0 ? 2U : 3U);
          seat.broadcast(mine, 0);
        });
      },
      {"rank 1", "expects 3", "sends 2"});
}

TEST(AllGather, JoinsInRankOrder) {
  for (const int n : {1, 2, 4}) {  // A11
    DeviceTeam team(n);
    Values equal(static_cast<std::size_t>(n)), uneven(static_cast<std::size_t>(n));
    team.run([&](Communicator& seat) {
      const auto rank = static_cast<std::size_t>(seat.rank());
      const std::vector<float> mine = {1, 2, 3};
      equal[rank].resize(3 * static_cast<std::size_t>(n));
      seat.all_gather(mine, equal[rank]);
      const std::vector<float> more(rank + 1, static_cast<float>(rank));
      uneven[rank].resize(static_cast<std::size_t>(n * (n + 1) / 2));
      seat.all_gather(more, uneven[rank]);
    });
    std::vector<float> repeated, staircase;
    for (int r = 0; r < n; ++r) {
      repeated.insert(repeated.end(), {1, 2, 3});
      staircase.insert(staircase.end(), static_cast<std::size_t>(r) + 1, static_cast<float>(r));
    }
    EXPECT_EQ(equal, everywhere(static_cast<std::size_t>(n), repeated));
    EXPECT_EQ(uneven, everywhere(static_cast<std::size_t>(n), staircase));
  }
}

TEST(AllGather, TakesRanksThatHaveNothing) {
  DeviceTeam team(3);
  Values all(3, std::vector<float>(2));
  team.run([&](Communicator& seat) {
    const std::vector<float> mine(seat.rank() == 1 ? 2U : 0U, 5.0F);
    seat.all_gather(mine, all[static_cast<std::size_t>(seat.rank())]);
  });
  EXPECT_EQ(all, everywhere(3, {5, 5}));
}

TEST(AllGather, AllRanksRefuseTogetherAWrongRoomOnAnyRank) {
  // Nobody may read what a refusing rank is about to give back to the system: all must refuse before they
  // read.
  DeviceTeam team(3);
  std::atomic<int> refused = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    expect_throw<std::invalid_argument>(
        [&] {
          team.run([&](Communicator& seat) {
            const std::vector<float> mine(20000, 1.0F);
            std::vector<float> all(seat.rank() == 1 ? 3U : 60000U);
            try {
              seat.all_gather(mine, all);
            } catch (const std::invalid_argument&) {
              ++refused;
              throw;
            }
          });
        },
        {"[all_gather]", "rank 1", "room for 3", "60000"});
  }
  EXPECT_EQ(refused, 3 * 20);
}

/// The whole tree over `leaves`, as docs/exact.md defines it: a node without a right child is its left child.
float whole_tree(const std::vector<float>& leaves, std::size_t first, std::size_t count) {
  if (count == 1) return leaves[first];
  std::size_t left = 1;
  while (left * 2 < count) left *= 2;
  return whole_tree(leaves, first, left) + whole_tree(leaves, first + left, count - left);
}

TEST(AllReduceTree, EqualsTheWholeTreeBitByBit) {
  constexpr std::size_t kWidth = 300;  // more than one chunk, not a multiple of anything
  for (const int ranks : {1, 2, 3, 5, 8}) {
    DeviceTeam team(ranks);
    for (const int rows : {1, 2, 3, 5, 7, 8, 13, 16, 31, 33, 100}) {  // leaves are rows, or micro-shards of 4
      const BatchPlan batch = plan_batch(rows, rows, ranks);
      const int total = (rows + batch.shard_rows - 1) / batch.shard_rows;
      Values values(static_cast<std::size_t>(total), std::vector<float>(kWidth));
      for (std::size_t l = 0; l < values.size(); ++l) {
        for (std::size_t i = 0; i < kWidth; ++i) {
          values[l][i] = random_unit(7, static_cast<std::uint32_t>(l), i) * (i % 3 == 0 ? 1e4F : 1.0F) - 0.5F;
        }
      }
      std::vector<float> expected(kWidth);
      for (std::size_t i = 0; i < kWidth; ++i) {
        std::vector<float> column;
        for (const auto& leaf : values) column.push_back(leaf[i]);
        expected[i] = whole_tree(column, 0, column.size());
      }
      TreePlan plan;
      for (const auto& share : batch.shares) plan.roots.push_back(static_cast<int>(share.roots.size()));
      for (const Addition& a : batch.additions) plan.additions.push_back({a.left, a.right});
      Values sums(static_cast<std::size_t>(ranks), std::vector<float>(kWidth));
      team.run([&](Communicator& seat) {
        const auto rank = static_cast<std::size_t>(seat.rank());
        Values own;  // the subtree sums of this rank
        for (const Range& root : batch.shares[rank].roots) {
          const auto first = static_cast<std::size_t>(root.first / batch.shard_rows);
          const auto count = static_cast<std::size_t>((root.count + batch.shard_rows - 1) / batch.shard_rows);
          own.emplace_back();
          for (std::size_t i = 0; i < kWidth; ++i) {
            std::vector<float> column;
            for (std::size_t l = first; l < first + count; ++l) column.push_back(values[l][i]);
            own.back().push_back(whole_tree(column, 0, count));
          }
        }
        std::vector<const float*> roots;
        for (const auto& root : own) roots.push_back(root.data());
        seat.all_reduce_tree(roots, plan, sums[rank]);
      });
      for (const auto& sum : sums) {
        EXPECT_TRUE(same_bits(sum, expected)) << ranks << " ranks, " << rows << " rows";
      }
    }
  }
}

TEST(AllReduceTree, RefusesRootsOrLengthsThatDoNotFit) {
  DeviceTeam team(2);
  const std::vector<float> value(600, 1.0F);
  const std::vector<const float*> one = {value.data()};
  expect_throw<std::invalid_argument>(
      [&] {
        team.run([&](Communicator& seat) {
          std::vector<float> sum(600);
          seat.all_reduce_tree(one, {{1, 0}, {}}, sum);
        });
      },
      {"[all_reduce_tree]", "rank 1", "1 roots"});
  expect_throw<std::invalid_argument>(
      [&] {
        team.run([&](Communicator& seat) {
          std::vector<float> sum(seat.rank() == 0 ? 600U : 500U);
          seat.all_reduce_tree(one, {{1, 1}, {{0, 1}}}, sum);
        });
      },
      {"[all_reduce_tree]", "500", "600"});
  expect_throw<std::invalid_argument>(
      [&] {
        team.run([&](Communicator& seat) {
          std::vector<float> sum(600);
          seat.all_reduce_tree({}, {{0, 0}, {}}, sum);
        });
      },
      {"[all_reduce_tree]", "no rank brings a root"});
}

TEST(Collectives, OversubscribedAndRepeated) {
  constexpr int kRanks = 8, kRepeats = 500;  // more ranks than this machine has cores, most likely
  DeviceTeam team(kRanks);
  std::vector<int> wrong(kRanks);
  team.run([&](Communicator& seat) {
    const auto rank = static_cast<std::size_t>(seat.rank());
    std::vector<float> value(3), all(kRanks);
    for (int i = 0; i < kRepeats; ++i) {
      value.assign(3, static_cast<float>(seat.rank() + i));
      seat.all_reduce(value, ReduceOp::kSum);
      wrong[rank] +=
          value != std::vector<float>(3, static_cast<float>(kRanks * i + kRanks * (kRanks - 1) / 2));
      value.assign(1, static_cast<float>(seat.rank()));
      seat.broadcast(value, i % kRanks);
      wrong[rank] += value[0] != static_cast<float>(i % kRanks);
      seat.all_gather(std::span(value).first(i % 2 == seat.rank() % 2 ? 1 : 0),
                      std::span(all).first(kRanks / 2));
      wrong[rank] += all[0] != static_cast<float>(i % kRanks);
    }
  });
  EXPECT_EQ(wrong, std::vector<int>(kRanks));
}

TEST(Collectives, RanksThatCallDifferentOnesAreNotMixedUp) {
  DeviceTeam team(2, {.limit = std::chrono::milliseconds(200)});
  // One gathers, the other reduces: their meetings pair up, so the sizes must tell.
  EXPECT_THROW(team.run([](Communicator& seat) {
    std::vector<float> mine(2), all(4);
    if (seat.rank() == 0) {
      seat.all_reduce(mine, ReduceOp::kSum);
    } else {
      seat.all_gather(std::span(mine).first(1), all);
    }
  }),
               std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::strategies

#include "strategies/comm/copies/schedule.h"

#include "strategies/comm/copies/tree_plan.h"

#include <gtest/gtest.h>

namespace mirrorscale::strategies::copies {
namespace {

constexpr auto kOne = CrossDeviceOps::kReductionToOneDevice;
constexpr auto kTree = CrossDeviceOps::kHierarchicalCopy;

TEST(Schedule, OneDeviceAddsEverythingInOneRound) {
  const Schedule schedule = schedule_of(kOne, tree_over_ranks(5));
  ASSERT_EQ(schedule.sums.size(), 4U);
  for (const auto& sum : schedule.sums) EXPECT_EQ(sum.rank, 0);
  EXPECT_EQ(schedule.rounds, 1);
  EXPECT_EQ(schedule.places, (std::vector<int>{5, 0, 0, 0, 0}));
  EXPECT_EQ(schedule.result().rank, 0);
  EXPECT_FALSE(schedule.sums[3].fetch_left);  // its own sum
  EXPECT_TRUE(schedule.sums[3].fetch_right);  // rank 4's root
}

TEST(Schedule, NeighboursAddFirst) {
  const Schedule schedule = schedule_of(kTree, tree_over_ranks(4));
  ASSERT_EQ(schedule.sums.size(), 3U);
  EXPECT_EQ(schedule.sums[0].rank, 0);
  EXPECT_EQ(schedule.sums[1].rank, 2);
  EXPECT_EQ(schedule.sums[2].rank, 0);
  EXPECT_EQ(schedule.sums[0].round, 0);
  EXPECT_EQ(schedule.sums[1].round, 0);
  EXPECT_EQ(schedule.sums[2].round, 1);
  EXPECT_TRUE(schedule.sums[2].fetch_right);
  EXPECT_EQ(schedule.rounds, 2);
}

TEST(Schedule, RootsOfOneRankNeedNoOtherRound) {
  // Ranks 0 and 2 have nothing; rank 1 adds its own, then what rank 3 brings.
  const Schedule schedule = schedule_of(kTree, {{0, 2, 0, 1}, {{0, 1}, {3, 2}}});
  EXPECT_EQ(schedule.rounds, 1);
  EXPECT_EQ(schedule.result().rank, 1);
  EXPECT_EQ(schedule.places, (std::vector<int>{0, 3, 0, 0}));
}

TEST(Schedule, ASingleRootIsTheSum) {
  const Schedule schedule = schedule_of(kOne, {{0, 0, 1}, {}});
  EXPECT_EQ(schedule.rounds, 0);
  EXPECT_EQ(schedule.result().rank, 2);
  EXPECT_EQ(schedule.result().place, -1);
}

TEST(Spread, GoesFromTheSourceOrAlongATree) {
  for (const Fetch& fetch : spread_of(kOne, 2, 4)) EXPECT_EQ(fetch.from, 2);
  EXPECT_EQ(rounds_of(spread_of(kOne, 2, 4)), 1);
  const auto spread = spread_of(kTree, 0, 8);
  const int from[] = {0, 0, 0, 2, 0, 4, 4, 6}, round[] = {-1, 2, 1, 2, 0, 2, 1, 2};
  for (std::size_t r = 0; r < 8; ++r) {
    EXPECT_EQ(spread[r].from, from[r]) << r;
    EXPECT_EQ(spread[r].round, round[r]) << r;
  }
  EXPECT_EQ(rounds_of(spread_of(kTree, 0, 1)), 0);
}

TEST(Spread, NobodyFetchesWhatIsNotThereYet) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (int source = 0; source < ranks; ++source) {
      const auto spread = spread_of(kTree, source, ranks);
      EXPECT_EQ(spread[static_cast<std::size_t>(source)].round, -1);
      for (int r = 0; r < ranks; ++r) {
        const Fetch& fetch = spread[static_cast<std::size_t>(r)];
        if (r == source) continue;
        EXPECT_GE(fetch.round, 0);
        EXPECT_LT(spread[static_cast<std::size_t>(fetch.from)].round, fetch.round)
            << ranks << ' ' << source << ' ' << r;
      }
    }
  }
}

TEST(TreePlan, FaultsAreFound) {
  EXPECT_EQ(fault_of(tree_over_ranks(7)), "");
  EXPECT_NE(fault_of({{0, 0}, {}}), "");
  EXPECT_NE(fault_of({{1, 1}, {{0, 2}}}), "");
  EXPECT_NE(fault_of({{1, 1}, {{0, 0}}}), "");
  EXPECT_NE(fault_of({{1, 1}, {{-1, 0}}}), "");
}

}  // namespace
}  // namespace mirrorscale::strategies::copies

#include "harness/check/shards.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace mirrorscale::harness {
namespace {

using Ranges = std::vector<RowRange>;

/// Sizes that differ by at most one, larger ones first.
Ranges even(std::int64_t rows, int replicas) {
  Ranges shards;
  std::int64_t first = 0;
  for (int r = 0; r < replicas; ++r) {
    const std::int64_t count = rows / replicas + (r < rows % replicas ? 1 : 0);
    shards.push_back({first, count});
    first += count;
  }
  return shards;
}

struct Fault {
  const char* name;
  std::int64_t rows;
  Ranges shards;
  ShardRule rule;
  const char* says;
};

TEST(Shards, RightOnesPass) {
  EXPECT_EQ(check_shards(5, Ranges{{0, 3}, {3, 2}}).outcome, Outcome::kPassed);
  EXPECT_EQ(check_shards(1, Ranges{{0, 1}, {1, 0}}).outcome, Outcome::kPassed);
  EXPECT_EQ(check_shards(1, Ranges{{0, 0}, {0, 1}}).outcome, Outcome::kPassed);
  // Leaves of 4: 40 rows are 10 leaves, at most 4 each on 3 replicas; the last leaf of 41 rows is cut short.
  EXPECT_EQ(check_shards(40, Ranges{{0, 16}, {16, 16}, {32, 8}}, {.leaf_rows = 4}).outcome, Outcome::kPassed);
  EXPECT_EQ(check_shards(41, Ranges{{0, 16}, {16, 16}, {32, 9}}, {.leaf_rows = 4}).outcome, Outcome::kPassed);
}

TEST(Shards, EachFaultIsNamed) {
  const std::vector<Fault> faults{
      {"gap", 4, {{0, 2}, {3, 1}}, {}, "rows 2 to 2 go to nobody"},
      {"last rows lost", 5, {{0, 2}, {2, 2}}, {}, "rows 4 to 4 go to nobody"},
      {"duplicated shard", 4, {{0, 2}, {0, 2}}, {}, "row 0 goes to replica 1 as well"},
      {"overlap", 4, {{0, 2}, {1, 2}}, {}, "row 1 goes to replica 1 as well"},
      {"past the end", 3, {{0, 2}, {2, 2}}, {}, "replica 1 gets row 3, past the end"},
      {"out of order", 4, {{2, 2}, {0, 2}}, {}, "rows 0 to 1 go to nobody"},
      {"too large", 4, {{0, 3}, {3, 1}}, {}, "replica 0 gets 3 leaves, at most 2 are its share"},
      {"needless empty",
       4,
       {{0, 2}, {2, 2}, {4, 0}},
       {},
       "replica 2 gets no rows, though there are 4 leaves"},
      {"negative", 2, {{0, 1}, {1, -1}}, {}, "replica 1 gets -1 rows"},
      {"cut leaf",
       8,
       {{0, 5}, {5, 3}},
       {.leaf_rows = 4},
       "replica 0 gets rows 0 to 4, which cuts a leaf of 4 rows"},
      {"difference",
       8,
       {{0, 4}, {4, 2}, {6, 2}},
       {.leaf_rows = 2, .largest_difference_rows = 1},
       "sizes differ by 2"},
  };
  for (const Fault& fault : faults) {
    const Verdict verdict = check_shards(fault.rows, fault.shards, fault.rule);
    EXPECT_EQ(verdict.outcome, Outcome::kFailed) << fault.name;
    EXPECT_NE(verdict.evidence.find(fault.says), std::string::npos) << fault.name << ": " << verdict.evidence;
  }
  EXPECT_EQ(check_shards(4, Ranges{}).outcome, Outcome::kFailed);
  EXPECT_THROW(check_shards(0, Ranges{{0, 0}}), std::invalid_argument);
}

TEST(Sharding, EveryBatchSizeIsTried) {
  for (int replicas = 1; replicas <= 9; ++replicas) {
    std::vector<std::int64_t> seen;
    const auto sharding = [&](std::int64_t rows, int n) {
      seen.push_back(rows);
      return even(rows, n);
    };
    const std::vector<std::int64_t> more{100, 1000};
    const auto rules = [](std::int64_t) { return ShardRule{.leaf_rows = 1, .largest_difference_rows = 1}; };
    EXPECT_EQ(check_sharding(replicas, sharding, rules, more).outcome, Outcome::kPassed);
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(2 * replicas + 3));
    EXPECT_EQ(seen[static_cast<std::size_t>(2 * replicas)], 2 * replicas + 1);
    EXPECT_EQ(seen.back(), 1000);
  }
}

// A sharder that drops the remainder is right for even batches only.
TEST(Sharding, FaultAtOneBatchSizeIsFound) {
  const auto truncating = [](std::int64_t rows, int replicas) {
    Ranges shards;
    for (int r = 0; r < replicas; ++r) shards.push_back({r * (rows / replicas), rows / replicas});
    return shards;
  };
  const Verdict verdict = check_sharding(1, truncating);
  EXPECT_EQ(verdict.outcome, Outcome::kPassed);
  EXPECT_EQ(check_sharding(2, truncating).outcome, Outcome::kFailed);
}

TEST(Sharding, ThrowingAndMiscountingShardersFail) {
  const auto throwing = [](std::int64_t, int) -> Ranges { throw std::runtime_error("no rows left"); };
  EXPECT_EQ(check_sharding(2, throwing).evidence, "1 rows on 2 replicas: the sharder threw: no rows left");
  const auto one_short = [](std::int64_t rows, int) { return Ranges{{0, rows}}; };
  EXPECT_EQ(check_sharding(2, one_short).evidence, "1 rows on 2 replicas: 1 shards");
}

}  // namespace
}  // namespace mirrorscale::harness

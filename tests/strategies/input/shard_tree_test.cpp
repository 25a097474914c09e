#include "strategies/input/shard_tree.h"

#include "strategies/input/sharder.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

/// Rows of every replica, batch by batch.
std::vector<std::vector<int>> share_sizes(int rows, int batch, int replicas) {
  std::vector<std::vector<int>> steps;
  for (int at = 0; at < rows; at += batch) {
    std::vector<int> step;
    for (const auto& share : plan_batch(std::min(batch, rows - at), batch, replicas).shares) {
      step.push_back(share.rows.count);
    }
    steps.push_back(step);
  }
  return steps;
}
using Steps = std::vector<std::vector<int>>;

TEST(MicroShardRows, FollowsTheRule) {
  const std::vector<std::pair<int, int>> rule = {{1, 1},    {31, 1},    {32, 4},     {63, 4},    {64, 4},
                                                 {127, 4},  {128, 8},   {255, 8},    {256, 16},  {511, 16},
                                                 {512, 32}, {1024, 32}, {60000, 32}, {65536, 32}};
  for (const auto& [batch, rows] : rule) EXPECT_EQ(micro_shard_rows(batch), rows) << "batch " << batch;
  EXPECT_THROW(micro_shard_rows(0), std::invalid_argument);
}

TEST(SubtreeRoots, OfPaperCases) {
  // Five leaves: ((0 1)(2 3)) 4; leaf 4 alone is also the right half of the whole tree.
  EXPECT_EQ(subtree_roots({0, 5}, 5), (std::vector<Range>{{0, 5}}));
  EXPECT_EQ(subtree_roots({0, 3}, 5), (std::vector<Range>{{0, 2}, {2, 1}}));
  EXPECT_EQ(subtree_roots({3, 2}, 5), (std::vector<Range>{{3, 1}, {4, 1}}));
  EXPECT_EQ(subtree_roots({1, 6}, 8), (std::vector<Range>{{1, 1}, {2, 2}, {4, 2}, {6, 1}}));
  EXPECT_EQ(subtree_roots({4, 3}, 7), (std::vector<Range>{{4, 3}}));  // cut short by the end, yet whole
  EXPECT_EQ(subtree_roots({2, 0}, 7), std::vector<Range>{});
  EXPECT_THROW(subtree_roots({4, 4}, 7), std::invalid_argument);
  EXPECT_THROW(subtree_roots({-1, 2}, 7), std::invalid_argument);
}

TEST(CutLeaves, PrefersFewRootsThenLargerFirstParts) {
  EXPECT_EQ(cut_leaves(16, 3), (std::vector<Range>{{0, 6}, {6, 6}, {12, 4}}));  // {5, 6, 5} has more roots
  EXPECT_EQ(cut_leaves(4, 3), (std::vector<Range>{{0, 2}, {2, 1}, {3, 1}}));    // {1, 1, 2} has as many
  EXPECT_EQ(cut_leaves(3, 2), (std::vector<Range>{{0, 2}, {2, 1}}));            // {1, 2} has one more
  EXPECT_EQ(cut_leaves(2, 4), (std::vector<Range>{{0, 1}, {1, 1}, {2, 0}, {2, 0}}));
  EXPECT_EQ(cut_leaves(0, 2), (std::vector<Range>{{0, 0}, {0, 0}}));
  EXPECT_THROW(cut_leaves(4, 0), std::invalid_argument);
  EXPECT_THROW(cut_leaves(-1, 2), std::invalid_argument);
}

TEST(CutLeaves, IsTheBestOfAllCuts) {
  for (int total = 1; total <= 14; ++total) {
    for (int replicas = 1; replicas <= std::min(total, 6); ++replicas) {
      const int most = (total + replicas - 1) / replicas;
      std::size_t least = 1000;
      std::vector<Range> best, parts;
      // Larger first parts come first, so that of equals the first is kept.
      const std::function<void(int, std::size_t)> extend = [&](int begin, std::size_t roots) {
        if (static_cast<int>(parts.size()) == replicas) {
          if (begin == total && roots < least) least = roots, best = parts;
          return;
        }
        for (int count = std::min(most, total - begin); count >= 1; --count) {
          parts.push_back({begin, count});
          extend(begin + count, roots + subtree_roots(parts.back(), total).size());
          parts.pop_back();
        }
      };
      extend(0, 0);
      EXPECT_EQ(cut_leaves(total, replicas), best) << total << " leaves, " << replicas << " replicas";
    }
  }
}

TEST(Completion, OfPaperCases) {
  // Two replicas with {0 1 2} and {3 4}: roots 0: (0 1), 1: 2, 2: 3, 3: 4.
  EXPECT_EQ(completion({{0, 2}, {2, 1}, {3, 1}, {4, 1}}, 5), (std::vector<Addition>{{1, 2}, {0, 4}, {5, 3}}));
  EXPECT_EQ(completion({{0, 5}}, 5), std::vector<Addition>{});
  EXPECT_EQ(completion({{0, 1}, {1, 1}}, 2), (std::vector<Addition>{{0, 1}}));
}

TEST(Completion, RefusesWhatIsNoTree) {
  EXPECT_THROW(completion({{0, 2}, {3, 1}}, 4), std::invalid_argument);  // leaf 2 is missing
  EXPECT_THROW(completion({{0, 3}, {3, 1}}, 4), std::invalid_argument);  // (0 1 2) is no subtree
  EXPECT_THROW(completion({{0, 4}, {4, 1}}, 4), std::invalid_argument);  // one too many
  EXPECT_THROW(completion({{2, 2}, {0, 2}}, 4), std::invalid_argument);  // not in order
  EXPECT_THROW(completion({}, 4), std::invalid_argument);
  EXPECT_THROW(completion({}, 0), std::invalid_argument);
}

TEST(PlanBatch, SharesAsTheTutorialsDo) {
  EXPECT_EQ(share_sizes(9, 4, 2), (Steps{{2, 2}, {2, 2}, {1, 0}}));                                     // D1
  EXPECT_EQ(share_sizes(3, 4, 2), (Steps{{2, 1}}));                                                     // D2
  EXPECT_EQ(share_sizes(1, 2, 2), (Steps{{1, 0}}));                                                     // D2
  EXPECT_EQ(share_sizes(4, 4, 5), (Steps{{1, 1, 1, 1, 0}}));                                            // D3
  EXPECT_EQ(share_sizes(4, 4, 2), (Steps{{2, 2}}));                                                     // D7
  EXPECT_EQ(share_sizes(100, 16, 2), (Steps{{8, 8}, {8, 8}, {8, 8}, {8, 8}, {8, 8}, {8, 8}, {2, 2}}));  // D8
  EXPECT_EQ(share_sizes(14, 8, 2), (Steps{{4, 4}, {3, 3}}));  // D9, from the data set
  EXPECT_EQ(share_sizes(6, 4, 2), (Steps{{2, 2}, {1, 1}}));   // D10, the text's way
  // D4. TensorFlow's legacy cut gives ceil(4 / 3) rows to the first replicas and leaves the third without
  // work: {2, 2, 0}. Here nobody is idle while there are rows; no replica has more than before, so the step
  // takes as long.
  EXPECT_EQ(share_sizes(8, 4, 3), (Steps{{2, 1, 1}, {2, 1, 1}}));
}

TEST(PlanBatch, KeepsTheMicroShardsOfTheFullBatch) {
  const BatchPlan plan = plan_batch(20, 64, 3);  // S = 4: five leaves
  EXPECT_EQ(plan.shard_rows, 4);
  ASSERT_EQ(plan.shares.size(), 3U);
  EXPECT_EQ(plan.shares[0].rows, (Range{0, 8}));
  EXPECT_EQ(plan.shares[1].rows, (Range{8, 8}));
  EXPECT_EQ(plan.shares[2].rows, (Range{16, 4}));
  EXPECT_EQ(plan.shares[1].roots, (std::vector<Range>{{8, 8}}));
  EXPECT_EQ(plan.additions, (std::vector<Addition>{{0, 1}, {3, 2}}));
  // The last leaf has the 2 rows that are left.
  EXPECT_EQ(plan_batch(18, 64, 3).shares[2].roots, (std::vector<Range>{{16, 2}}));
}

TEST(PlanBatch, RefusesWhatMakesNoBatch) {
  EXPECT_THROW(plan_batch(0, 4, 2), std::invalid_argument);
  EXPECT_THROW(plan_batch(4, 4, 0), std::invalid_argument);
  EXPECT_THROW(plan_batch(5, 4, 2), std::invalid_argument);
}

// ---- properties
// -------------------------------------------------------------------------------------------------

/// The sum of a binary tree over `leaves`, level by level; a node without a right child is its left child.
float tree_sum(std::vector<float> leaves) {
  while (leaves.size() > 1) {
    std::vector<float> above;
    for (std::size_t i = 0; i < leaves.size(); i += 2) {
      above.push_back(i + 1 < leaves.size() ? leaves[i] + leaves[i + 1] : leaves[i]);
    }
    leaves = above;
  }
  return leaves.front();
}

/// Whether rows belong to one node (level, i) of the tree over `total` leaves.
bool is_node(Range leaves, int total) {
  for (int size = 1;; size *= 2) {
    if (leaves.first % size == 0 && leaves.count == std::min(size, total - leaves.first)) return true;
    if (size >= total) return false;
  }
}

void expect_sound(int rows, int full_batch, int replicas) {
  SCOPED_TRACE(testing::Message() << rows << " rows of " << full_batch << " on " << replicas);
  const BatchPlan plan = plan_batch(rows, full_batch, replicas);
  const int s = plan.shard_rows, leaves = (rows + s - 1) / s, most = (leaves + replicas - 1) / replicas;
  ASSERT_EQ(s, micro_shard_rows(full_batch));
  ASSERT_EQ(plan.rows, rows);
  ASSERT_EQ(plan.shares.size(), static_cast<std::size_t>(replicas));

  std::mt19937 random(static_cast<unsigned>(rows * 64 + replicas));
  std::vector<float> values(static_cast<std::size_t>(leaves));
  for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random);

  std::vector<float> operands;
  int at = 0;
  for (int r = 0; r < replicas; ++r) {
    const auto& share = plan.shares[static_cast<std::size_t>(r)];
    ASSERT_EQ(share.rows.first, at);
    ASSERT_LE(share.rows.count, most * s);
    ASSERT_EQ(share.rows.count == 0, r >= leaves) << "replica " << r;
    Range before{-1, 0};
    for (const Range& root : share.roots) {
      ASSERT_EQ(root.first, at);
      ASSERT_GT(root.count, 0);
      ASSERT_EQ(root.first % s, 0);
      const Range node{root.first / s, (root.count + s - 1) / s};
      ASSERT_TRUE(is_node(node, leaves));
      // Maximal: no two neighbours of one share make a node.
      if (before.first >= 0) {
        ASSERT_FALSE(is_node({before.first, before.count + node.count}, leaves));
      }
      before = node;
      operands.push_back(tree_sum({values.begin() + node.first, values.begin() + node.last()}));
      at = root.last();
    }
    ASSERT_EQ(at, share.rows.last());
  }
  ASSERT_EQ(at, rows);

  ASSERT_EQ(plan.additions.size(), operands.size() - 1);
  for (const Addition& addition : plan.additions) {
    ASSERT_GE(std::min(addition.left, addition.right), 0);
    ASSERT_LT(std::max(addition.left, addition.right), static_cast<int>(operands.size()));
    operands.push_back(operands[static_cast<std::size_t>(addition.left)] +
                       operands[static_cast<std::size_t>(addition.right)]);
  }
  ASSERT_EQ(std::bit_cast<std::uint32_t>(operands.back()), std::bit_cast<std::uint32_t>(tree_sum(values)));
}

TEST(PlanBatch, IsSoundForEverySmallBatch) {
  for (int rows = 1; rows <= 200; ++rows) {
    for (int replicas = 1; replicas <= 9; ++replicas) expect_sound(rows, rows, replicas);
  }
}

TEST(PlanBatch, IsSoundForEveryShortLastBatch) {
  for (const int full_batch : {4, 31, 32, 64, 256}) {
    for (int rows = 1; rows <= full_batch; ++rows) {
      for (const int replicas : {1, 2, 3, 5, 8}) expect_sound(rows, full_batch, replicas);
    }
  }
}

TEST(PlanBatch, IsSoundForLargeBatches) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    const int full_batch = std::uniform_int_distribution<int>(1, 65536)(random);
    const int rows = std::uniform_int_distribution<int>(1, full_batch)(random);
    expect_sound(rows, full_batch, std::uniform_int_distribution<int>(1, 64)(random));
  }
  expect_sound(65536, 65536, 64);
  expect_sound(65535, 65536, 63);
}

TEST(SplitEvenly, GivesLargerPartsFirst) {
  EXPECT_EQ(split_evenly(7, 3), (std::vector<Range>{{0, 3}, {3, 2}, {5, 2}}));
  EXPECT_EQ(split_evenly(2, 3), (std::vector<Range>{{0, 1}, {1, 1}, {2, 0}}));
  EXPECT_EQ(split_evenly(0, 2), (std::vector<Range>{{0, 0}, {0, 0}}));
  for (int rows = 0; rows <= 100; ++rows) {
    for (int replicas = 1; replicas <= 9; ++replicas) {
      int at = 0, before = rows;
      for (const Range& part : split_evenly(rows, replicas)) {
        ASSERT_EQ(part.first, at);
        ASSERT_LE(part.count, before);
        ASSERT_TRUE(part.count == rows / replicas || part.count == (rows + replicas - 1) / replicas);
        at = part.last(), before = part.count;
      }
      ASSERT_EQ(at, rows);
    }
  }
  EXPECT_THROW(split_evenly(-1, 2), std::invalid_argument);
  EXPECT_THROW(split_evenly(4, 0), std::invalid_argument);
}

TEST(TreeSharder, IsPlanBatchAndSplitEvenly) {
  const TreeSharder sharder;
  EXPECT_EQ(sharder.plan(20, 64, 3).shares[1].rows, (Range{8, 8}));
  EXPECT_EQ(sharder.split(7, 3), split_evenly(7, 3));
}

}  // namespace
}  // namespace mirrorscale::strategies

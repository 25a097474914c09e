#include "strategies/input/shuffler.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

using Order = std::vector<std::int64_t>;

TEST(InOrder, LeavesRowsAsTheyAre) {
  EXPECT_EQ(InOrder().order(4, 1, 2), (Order{0, 1, 2, 3}));
  EXPECT_EQ(InOrder().order(0, 1, 2), Order{});
  EXPECT_THROW(InOrder().order(-1, 1, 2), std::invalid_argument);
}

TEST(UniformShuffle, GivesTheseVeryOrders) {
  // From a few lines of Python integers: a stored run must stay repeatable.
  const UniformShuffle shuffle;
  EXPECT_EQ(shuffle.order(10, 1, 0), (Order{8, 7, 4, 3, 9, 5, 2, 0, 1, 6}));
  EXPECT_EQ(shuffle.order(10, 1, 1), (Order{6, 5, 3, 4, 7, 9, 8, 0, 2, 1}));
  EXPECT_EQ(shuffle.order(10, (std::uint64_t{5} << 32) + 1, 0), (Order{4, 1, 6, 5, 9, 3, 0, 7, 8, 2}));
}

TEST(UniformShuffle, IsAPermutation) {
  for (const std::int64_t rows : {0, 1, 2, 3, 1000}) {
    Order order = UniformShuffle().order(rows, 42, 3);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, InOrder().order(rows, 0, 0));
  }
  EXPECT_THROW(UniformShuffle().order(-1, 42, 3), std::invalid_argument);
}

TEST(UniformShuffle, MakesEveryPermutationEquallyOften) {
  std::map<Order, int> seen;
  constexpr int kDraws = 24000;
  for (int seed = 0; seed < kDraws; ++seed)
    ++seen[UniformShuffle().order(4, static_cast<std::uint64_t>(seed), 0)];
  ASSERT_EQ(seen.size(), 24U);
  double chi_squared = 0;
  for (const auto& [order, count] : seen) chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_squared, 49.7);  // 23 degrees of freedom, 0.1 %
}

}  // namespace
}  // namespace mirrorscale::strategies

// Strategy::run, reduce and reduce_rows on the worked cases of TensorFlow's own tests.
#include "strategies/strategy.h"
#include "tests/strategies/support/expect_throw.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using testing::expect_throw;
using Rows = std::vector<std::vector<float>>;

/// One value a replica.
template <class F>
std::vector<float> run(const Strategy& strategy, const F& value_of) {
  std::vector<float> values(static_cast<std::size_t>(strategy.replicas()));
  strategy.run([&](const ReplicaContext& context) {
    values[static_cast<std::size_t>(context.replica_id)] = value_of(context);
  });
  return values;
}

TEST(Run, ResultsOfOneRunAreTheInputsOfTheNext) {
  const Mirrored two(2);
  const auto x = run(two, [](const ReplicaContext& c) { return static_cast<float>(c.replica_id + 1); });
  EXPECT_EQ(x, (std::vector<float>{1, 2}));
  const auto of = [](const std::vector<float>& values, const ReplicaContext& c) {
    return values[static_cast<std::size_t>(c.replica_id)];
  };
  const auto a = run(two, [&](const ReplicaContext& c) { return 2 * of(x, c); });
  const auto b = run(two, [&](const ReplicaContext& c) { return of(x, c) * of(x, c); });
  EXPECT_EQ(a, (std::vector<float>{2, 4}));
  EXPECT_EQ(b, (std::vector<float>{1, 4}));
  EXPECT_EQ(run(two, [&](const ReplicaContext& c) { return of(a, c) + 2 * of(b, c) + 2; }),
            (std::vector<float>{6, 14}));
  EXPECT_EQ(run(OneDevice(), [](const ReplicaContext&) { return 8 + 2 * 16.0F + 2; }),
            std::vector<float>{42});
}

TEST(Run, TellsEveryReplicaWhoItIs) {
  const Mirrored four(4);
  EXPECT_EQ(run(four,
                [](const ReplicaContext& c) {
                  EXPECT_EQ(c.num_replicas, 4);
                  EXPECT_EQ(c.communicator.rank(), c.replica_id);
                  float sum = static_cast<float>(c.replica_id);
                  c.communicator.all_reduce({&sum, 1}, ReduceOp::kSum);
                  return sum;
                }),
            std::vector<float>(4, 6.0F));
}

TEST(Run, AnExceptionOfAReplicaReachesTheCaller) {
  const Mirrored three(3);
  expect_throw<std::runtime_error>(
      [&] {
        three.run([](const ReplicaContext& c) {
          if (c.replica_id == 2) throw std::runtime_error("boom");
          c.communicator.barrier("x");
        });
      },
      {"rank 2: boom"});
}

TEST(Reduce, OfUnevenRowsDividesByTheTrueCount) {
  const auto rows_of = [](int n) {  // replica i holds i + 1 copies of i
    Rows rows;
    for (int i = 0; i < n; ++i) rows.emplace_back(static_cast<std::size_t>(i) + 1, static_cast<float>(i));
    return rows;
  };
  const struct {
    int replicas;
    float sum, mean;
  } cases[] = {{2, 2, 0.66667F}, {4, 20, 2}, {8, 168, 4.66667F}};
  for (const auto& c : cases) {
    const Mirrored strategy(c.replicas);
    EXPECT_EQ(strategy.reduce_rows(ReduceOp::kSum, rows_of(c.replicas)), c.sum);
    EXPECT_NEAR(strategy.reduce_rows(ReduceOp::kMean, rows_of(c.replicas)), c.mean, 1e-5);
  }
}

TEST(Reduce, OverReplicasAloneOrOverRowsToo) {
  const Mirrored two(2);
  const Rows items = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  Rows reduced = items;
  two.run([&](const ReplicaContext& c) {
    c.communicator.all_reduce(reduced[static_cast<std::size_t>(c.replica_id)], ReduceOp::kSum);
  });
  EXPECT_EQ(reduced, Rows(2, {4, 6, 8, 10}));
  EXPECT_EQ(two.reduce_rows(ReduceOp::kSum, items), 28);
  EXPECT_EQ(two.reduce(ReduceOp::kSum, std::vector<float>{5.5F, 7}), 12.5F);
  EXPECT_EQ(two.reduce(ReduceOp::kMean, std::vector<float>{5.5F, 7}), 6.25F);  // of values, not of rows
  EXPECT_EQ(two.reduce_rows(ReduceOp::kMean, Rows{{5, 6}, {7}}), 6);
  EXPECT_EQ(two.reduce_rows(ReduceOp::kSum, Rows{{5, 6}, {7, 8}}), 26);
}

TEST(Reduce, TheAverageLossIsOverTheGlobalBatch) {
  const Mirrored two(2);
  EXPECT_EQ(two.reduce_rows(ReduceOp::kMean, Rows{{2, 3}, {4, 5}}), 3.5F);
  EXPECT_EQ(two.reduce(ReduceOp::kSum, std::vector<float>{1.25F, 2.25F}), 3.5F);
  // The trap: a mean of what are already shares of the global mean.
  EXPECT_EQ(two.reduce(ReduceOp::kMean, std::vector<float>{1.25F, 2.25F}), 1.75F);
}

TEST(Reduce, EmptyReplicasCountForNothing) {
  const Mirrored three(3);
  EXPECT_EQ(three.reduce_rows(ReduceOp::kMean, Rows{{25}, {}, {}}), 25);
  EXPECT_EQ(three.reduce_rows(ReduceOp::kMean, Rows{{}, {}, {}}), 0);
}

TEST(Reduce, NeedsAValueOfEachReplica) {
  const Mirrored three(3);
  expect_throw<std::invalid_argument>(
      [&] {
        three.reduce(ReduceOp::kSum, std::vector<float>{1, 2});
      },
      {"[reduce]", "2 values", "3 replicas"});
  EXPECT_THROW(three.reduce_rows(ReduceOp::kSum, Rows{{1}}), std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::strategies

// Which rows each replica took in which step: the worked cases of TensorFlow's input tests, end to end.
#include "strategies/input/synthetic.h"
#include "tests/strategies/support/recipe.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <numeric>
#include <span>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using testing::build;
using testing::Recipe;
using Rows = std::vector<std::int64_t>;
using Steps = std::vector<std::vector<Rows>>;  // [step][replica]

class Ledger final : public RowObserver {
 public:
  explicit Ledger(int replicas) : replicas_(static_cast<std::size_t>(replicas)) {}
  void rows_taken(int replica, std::int64_t step, std::span<const std::int64_t> rows) override {
    const std::lock_guard lock(mutex_);
    if (steps_.size() <= static_cast<std::size_t>(step)) {
      steps_.resize(static_cast<std::size_t>(step) + 1, std::vector<Rows>(replicas_));
    }
    Rows& taken = steps_[static_cast<std::size_t>(step)][static_cast<std::size_t>(replica)];
    taken.insert(taken.end(), rows.begin(), rows.end());
  }
  const Steps& steps() const { return steps_; }

 private:
  const std::size_t replicas_;
  std::mutex mutex_;
  Steps steps_;
};

Steps taken(int rows, int batch, int replicas, bool shuffle = false, int epochs = 1) {
  Recipe recipe;
  recipe.layers = [] { return testing::line(0); };
  recipe.optimizer = [] { return sgd({.learning_rate = 1e-6}); };
  const auto model = build(Mirrored(replicas), recipe);
  Ledger ledger(replicas);
  model->session().set_observer(&ledger);
  model->fit(make_identity_rows(rows, 1, 1), {.epochs = epochs, .global_batch = batch, .shuffle = shuffle});
  return ledger.steps();
}

TEST(RowsTaken, OfPaperCases) {
  EXPECT_EQ(taken(9, 4, 2), (Steps{{{0, 1}, {2, 3}}, {{4, 5}, {6, 7}}, {{8}, {}}}));
  EXPECT_EQ(taken(3, 4, 2), (Steps{{{0, 1}, {2}}}));
  EXPECT_EQ(taken(1, 2, 2), (Steps{{{0}, {}}}));
  EXPECT_EQ(taken(4, 8, 5), (Steps{{{0}, {1}, {2}, {3}, {}}}));
  EXPECT_EQ(taken(6, 4, 2), (Steps{{{0, 1}, {2, 3}}, {{4}, {5}}}));
  // TensorFlow's older rule leaves the third replica empty here; ours nobody while there are rows.
  EXPECT_EQ(taken(8, 4, 3), (Steps{{{0, 1}, {2}, {3}}, {{4, 5}, {6}, {7}}}));
  EXPECT_EQ(taken(14, 8, 2)[1], (std::vector<Rows>{{8, 9, 10}, {11, 12, 13}}));
}

TEST(RowsTaken, AHundredRowsInBatchesOfSixteen) {
  const Steps steps = taken(100, 16, 2);
  ASSERT_EQ(steps.size(), 7U);
  for (std::size_t s = 0; s < 6; ++s) {
    for (const Rows& rows : steps[s]) EXPECT_EQ(rows.size(), 8U);
  }
  EXPECT_EQ(steps[6], (std::vector<Rows>{{96, 97}, {98, 99}}));
}

TEST(RowsTaken, EachRowOnceAnEpochInTheSameGlobalOrderAtAnyCount) {
  for (const auto& [rows, batch] : {std::pair(70, 32), std::pair(5, 3), std::pair(3, 64), std::pair(33, 7)}) {
    std::vector<Rows> orders;
    for (int n = 1; n <= 8; ++n) {
      Rows order;
      for (const auto& step : taken(rows, batch, n, true, 2)) {
        Rows of_step;
        for (const Rows& mine : step) of_step.insert(of_step.end(), mine.begin(), mine.end());
        order.insert(order.end(), of_step.begin(), of_step.end());
      }
      ASSERT_EQ(order.size(), 2 * static_cast<std::size_t>(rows)) << n;
      orders.push_back(order);
      EXPECT_EQ(order, orders[0]) << n << " replicas";
      Rows sorted(order.begin(), order.begin() + rows), all(static_cast<std::size_t>(rows));
      std::sort(sorted.begin(), sorted.end());
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(sorted, all);
    }
    EXPECT_FALSE(std::equal(orders[0].begin(), orders[0].begin() + rows, orders[0].begin() + rows))
        << "epochs differ";
  }
}

TEST(Predict, GivesARowForEachRowInInputOrder) {
  for (const int n : {1, 2, 3, 8}) {
    Recipe recipe;
    recipe.layers = [] { return testing::line(2); };
    const auto model = build(Mirrored(n), recipe);
    for (const int rows : {1, 2, 7, 63, 64, 65}) {
      for (const int batch : {1, 5, 32, 256}) {
        const Predictions p = model->predict(make_identity_rows(rows, 1, 1), batch);
        ASSERT_EQ(p.rows, rows);
        ASSERT_EQ(p.columns, 1);
        ASSERT_EQ(p.values.size(), static_cast<std::size_t>(rows));
        for (std::size_t i = 0; i < p.values.size(); ++i) EXPECT_EQ(p.values[i], 2 * static_cast<float>(i));
      }
    }
  }
}

}  // namespace
}  // namespace mirrorscale::strategies

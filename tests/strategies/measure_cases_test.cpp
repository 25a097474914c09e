// Evaluation, metrics and callbacks on the worked cases of TensorFlow's and Keras' own tests.
#include "strategies/input/synthetic.h"
#include "tests/strategies/support/data.h"
#include "tests/strategies/support/recipe.h"
#include "tests/strategies/support/toy_parts.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using testing::build;
using testing::points;
using testing::Recipe;

constexpr int kCounts[] = {1, 2, 4};

/// The prediction itself as a metric.
class MeanOutput final : public Metric {
 public:
  std::string name() const override { return "output"; }
  void check(int, const TargetShape&) const override {}
  void compute(kernels::Backend& backend, kernels::ConstMatrix y, const Targets& t,
               kernels::Column values) const override {
    backend.synchronize();  // the host reads next
    for (int r = 0; r < y.rows; ++r) values[r] = y.at(r, 0) * (t.weights == nullptr ? 1 : t.weights[r]);
  }
};

class ConstantLoss final : public Loss {
 public:
  std::string name() const override { return "constant"; }
  void check(int, const TargetShape&) const override {}
  void compute(kernels::Backend& backend, kernels::ConstMatrix y, const Targets&, kernels::Matrix gradient,
               kernels::Column loss) const override {
    backend.synchronize();  // the host reads next
    for (int r = 0; r < y.rows; ++r) {
      for (int c = 0; gradient && c < y.columns; ++c) gradient.at(r, c) = 0;
      if (loss) loss[r] = 5;
    }
  }
};

std::unique_ptr<Model> identity(const Strategy& strategy, LossPtr loss = mean_squared_error()) {
  const Scope scope = strategy.scope();
  auto model = std::make_unique<Model>(1, testing::line(1, true, 0));
  model->compile(sgd(), std::move(loss), {std::make_shared<MeanOutput>()});
  return model;
}

TEST(Evaluate, TheMeanSquaredErrorOfALine) {
  for (const int n : kCounts) {
    const auto model = identity(Mirrored(n));
    EXPECT_EQ(model->evaluate(points({0, 1, 2, 3}, {2, 4, 6, 8}), {.global_batch = 2}).at("loss"), 13.5) << n;
  }
}

TEST(Evaluate, SampleWeightsOfALine) {
  const auto data = points({0, 1, 2, 3}, {2, 4, 6, 8}, {0.25F, 0.5F, 0.75F, 1});
  for (const int n : kCounts) {
    const auto model = identity(Mirrored(n));
    const Pooled sums = model->session().evaluate(data, std::vector<std::int64_t>{0, 1, 2, 3}, 2);
    // Keras divides a weighted loss by the number of rows, 10.625; our mean is over the weight: 42.5 / 2.5.
    EXPECT_EQ(sums.loss_sum / static_cast<double>(sums.rows), 10.625) << n;
    EXPECT_EQ(sums.weight_sum, 2.5) << n;
    EXPECT_EQ(model->evaluate(data, {.global_batch = 2}).at("loss"), 17) << n;
    EXPECT_EQ(model->evaluate(data, {.global_batch = 2}).at("output"), (0.5 + 1.5 + 3) / 2.5) << n;
  }
}

TEST(Evaluate, ALossOfFiveIsFive) {
  for (const int n : kCounts) {
    const auto model = identity(Mirrored(n), std::make_shared<ConstantLoss>());
    EXPECT_EQ(model->evaluate(points({1, 2, 3}, {0, 0, 0}), {.global_batch = 2}).at("loss"), 5) << n;
    EXPECT_EQ(model->fit(points({1, 2, 3}, {0, 0, 0}), {.global_batch = 2}).values.at("loss")[0], 5) << n;
  }
}

/// Collects the running metric after each batch of an evaluation.
class Collect final : public Callback {
 public:
  bool wants_batches() const override { return true; }
  void on_test_batch_end(LoopControl&, std::int64_t, const Logs& logs) override {
    values.push_back(logs.at("output"));
  }
  void on_train_batch_end(LoopControl&, std::int64_t, const Logs& logs) override {
    values.push_back(logs.at("output"));
  }
  std::vector<double> values;
};

TEST(Metrics, AMeanRunsOverAllRowsSoFar) {
  for (const int n : kCounts) {
    const auto model = identity(Mirrored(n));
    const auto collect = std::make_shared<Collect>();
    // Batches of 4 a replica: after k batches 2 k N - 0.5.
    model->evaluate(make_identity_rows(1000, 1, 1), {.global_batch = 4 * n, .callbacks = {collect}});
    ASSERT_EQ(collect->values.size(), static_cast<std::size_t>(250 / n + (250 % n != 0)));
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(collect->values[k], 2.0 * n * static_cast<double>(k + 1) - 0.5) << n;
    }
    EXPECT_EQ(collect->values.back(), 499.5) << n;
  }
}

TEST(Metrics, InTrainingTheyRunToo) {
  for (const int n : kCounts) {
    const auto model = identity(Mirrored(n), std::make_shared<ConstantLoss>());  // the weights stay
    const auto collect = std::make_shared<Collect>();
    const History history = model->fit(make_identity_rows(10, 1, 1),
                                       {.global_batch = 2, .shuffle = false, .callbacks = {collect}});
    EXPECT_EQ(collect->values, (std::vector<double>{0.5, 1.5, 2.5, 3.5, 4.5})) << n;
    EXPECT_EQ(history.values.at("output"), std::vector<double>{4.5}) << n;
  }
}

TEST(Metrics, AccuracyIsPooledFromCounts) {
  // Labels 0, 1, 1, 1 and predictions 1, 0, 1, 1 on each replica: half are right. (Keras' case is about
  // precision and recall, which this engine does not have.)
  for (const int n : {1, 2, 4}) {
    std::vector<float> x, y;
    for (int r = 0; r < n; ++r) {
      x.insert(x.end(), {1, 0, 1, 1});
      y.insert(y.end(), {0, 1, 1, 1});
    }
    Recipe recipe;
    recipe.layers = [] { return testing::line(1); };
    recipe.loss = binary_crossentropy();
    recipe.metrics = {"accuracy"};
    const auto model = build(Mirrored(n), recipe);
    EXPECT_EQ(model->evaluate(points(x, y), {.global_batch = 4 * n}).at("accuracy"), 0.5);
    // One more row that is right: a mean of batch means would say something else.
    x.push_back(1);
    y.push_back(1);
    EXPECT_EQ(model->evaluate(points(x, y), {.global_batch = 4 * n}).at("accuracy"),
              (2.0 * n + 1) / (4 * n + 1));
  }
}

/// Counts calls, and remembers the batch numbers.
class Count final : public Callback {
 public:
  explicit Count(bool batches) : batches_(batches) {}
  bool wants_batches() const override { return batches_; }
  void on_train_begin(LoopControl&) override { ++train_begin; }
  void on_train_end(LoopControl&, const Logs&) override { ++train_end; }
  void on_epoch_begin(LoopControl&, int epoch) override { epochs_begun.push_back(epoch); }
  void on_epoch_end(LoopControl&, int epoch, const Logs&) override { epochs_ended.push_back(epoch); }
  void on_train_batch_begin(LoopControl&, std::int64_t batch) override { train_begun.push_back(batch); }
  void on_train_batch_end(LoopControl&, std::int64_t batch, const Logs&) override {
    train_ended.push_back(batch);
  }
  void on_test_begin(LoopControl&) override { ++test_begin; }
  void on_test_end(LoopControl&, const Logs&) override { ++test_end; }
  void on_test_batch_begin(LoopControl&, std::int64_t batch) override { test_begun.push_back(batch); }
  void on_test_batch_end(LoopControl&, std::int64_t batch, const Logs&) override {
    test_ended.push_back(batch);
  }

  int train_begin = 0, train_end = 0, test_begin = 0, test_end = 0;
  std::vector<int> epochs_begun, epochs_ended;
  std::vector<std::int64_t> train_begun, train_ended, test_begun, test_ended;

 private:
  const bool batches_;
};
using Batches = std::vector<std::int64_t>;

TEST(Callbacks, ComeOnceAnExecution) {
  const struct {
    int steps;
    Batches begun, ended;
  } cases[] = {
      {10, {0, 10, 20, 30, 40}, {9, 19, 29, 39, 49}}, {20, {0, 20, 40}, {19, 39, 49}}, {500, {0}, {49}}};
  for (const auto& c : cases) {
    const auto model = identity(Mirrored(2));
    const auto count = std::make_shared<Count>(true);
    const auto data = make_identity_rows(100, 1, 1);
    model->fit(data, {.global_batch = 2, .steps_per_execution = c.steps, .callbacks = {count}});
    EXPECT_EQ(count->train_begun, c.begun);
    EXPECT_EQ(count->train_ended, c.ended);
    model->evaluate(data, {.global_batch = 2, .steps_per_execution = c.steps, .callbacks = {count}});
    EXPECT_EQ(count->test_begun, c.begun);
    EXPECT_EQ(count->test_ended, c.ended);
  }
}

TEST(Callbacks, AreCountedOverTwoEpochsWithValidation) {
  for (const int n : kCounts) {
    const auto model = identity(Mirrored(n));
    const auto count = std::make_shared<Count>(true);
    model->fit(make_identity_rows(10, 1, 1), {.epochs = 2,
                                              .global_batch = 2,
                                              .validation = make_identity_rows(6, 1, 1),
                                              .validation_batch = 2,
                                              .callbacks = {count}});
    EXPECT_EQ(count->train_begun, (Batches{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
    EXPECT_EQ(count->train_ended, count->train_begun);
    EXPECT_EQ(count->test_begun, (Batches{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(count->test_ended, count->test_begun);
    EXPECT_EQ(count->epochs_begun, (std::vector<int>{0, 1}));
    EXPECT_EQ(count->epochs_ended, (std::vector<int>{0, 1}));
    EXPECT_EQ(count->train_begin, 1);
    EXPECT_EQ(count->train_end, 1);
    EXPECT_EQ(count->test_begin, 2);
    EXPECT_EQ(count->test_end, 2);
  }
}

TEST(Callbacks, GetNoBatchesUnlessTheyAskForThem) {
  const auto model = identity(Mirrored(2));
  const auto count = std::make_shared<Count>(false);
  model->fit(make_identity_rows(10, 1, 1), {.epochs = 2, .global_batch = 2, .callbacks = {count}});
  EXPECT_TRUE(count->train_begun.empty());
  EXPECT_EQ(count->epochs_ended.size(), 2U);
}

}  // namespace
}  // namespace mirrorscale::strategies

#include "strategies/comm/failure.h"
#include "strategies/input/array_dataset.h"
#include "strategies/input/data_error.h"
#include "tests/strategies/support/bits.h"
#include "tests/strategies/support/data.h"
#include "tests/strategies/support/expect_throw.h"
#include "tests/strategies/support/recipe.h"
#include "tests/strategies/support/toy_parts.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using testing::build;
using testing::expect_throw;
using testing::points;
using testing::random_data;
using testing::Recipe;
using testing::same_bits;

Recipe classifier() {
  Recipe recipe;
  recipe.features = 4;
  recipe.layers = [] { return std::vector<LayerPtr>{dense(3)}; };
  recipe.loss = make_loss("sparse_categorical_crossentropy_from_logits");
  recipe.metrics = {"accuracy"};
  return recipe;
}

DatasetPtr good() {
  return random_data({.rows = 10, .features = 4, .classes = 3});
}

TEST(FitErrors, NoCompile) {
  const Mirrored strategy(2);
  const Scope scope = strategy.scope();
  Model model(4, {dense(3)});
  expect_throw<std::invalid_argument>([&] { model.fit(good(), {}); }, {"[fit]", "not compiled"});
  expect_throw<std::invalid_argument>([&] { model.evaluate(good()); }, {"[evaluate]", "not compiled"});
  expect_throw<std::invalid_argument>([&] { model.optimizer(); }, {"not compiled"});
  EXPECT_EQ(model.predict(good()).rows, 10) << "prediction needs no loss";
  EXPECT_TRUE(model.slots().empty());
}

TEST(FitErrors, TokensThatAreNoneAreNamedByRowAndColumn) {
  Recipe recipe = classifier();
  recipe.layers = [] { return std::vector<LayerPtr>{embedding(3, 4), dense(3)}; };
  const auto model = build(Mirrored(2), recipe);
  ArrayContents contents;
  contents.name = "ids";
  contents.features = 4;
  contents.values = std::vector<float>{0, 1, 2, 0, 1, 1, 3, 0};
  contents.labels = {0, 1};
  contents.classes = 3;
  const auto high = std::make_shared<ArrayDataset>(contents);
  expect_throw<std::invalid_argument>([&] { model->fit(high, {}); },
                                      {"'ids'", "row 1", "column 2", "token 3", "0 .. 2"});
  std::get<std::vector<float>>(contents.values)[6] = 0.5F;
  expect_throw<std::invalid_argument>([&] { model->predict(std::make_shared<ArrayDataset>(contents)); },
                                      {"token 0.5", "whole numbers"});
  std::get<std::vector<float>>(contents.values)[6] = 0;
  const auto good_ids = std::make_shared<ArrayDataset>(contents);
  expect_throw<std::invalid_argument>([&] { model->fit(good_ids, {}); },
                                      {"1 answer a row", "4 positions", "the same"});
}

TEST(FitErrors, NumbersBelowOne) {
  const auto model = build(Mirrored(2), classifier());
  expect_throw<std::invalid_argument>([&] { model->fit(good(), {.epochs = 0}); }, {"[fit]", "epochs is 0"});
  expect_throw<std::invalid_argument>([&] { model->fit(good(), {.global_batch = 0}); },
                                      {"[fit]", "global_batch is 0", "at least 1"});
  expect_throw<std::invalid_argument>([&] { model->fit(good(), {.steps_per_execution = 0}); },
                                      {"steps_per_execution is 0"});
  expect_throw<std::invalid_argument>(
      [&] { model->fit(good(), {.validation = good(), .validation_batch = -1}); },
      {"[fit]", "validation_batch is -1"});
  expect_throw<std::invalid_argument>([&] { model->evaluate(good(), {.global_batch = -3}); },
                                      {"[evaluate]", "global_batch is -3"});
  expect_throw<std::invalid_argument>([&] { model->predict(good(), 0); }, {"[predict]", "0"});
  expect_throw<std::invalid_argument>([&] { model->fit(nullptr, {}); }, {"[fit]", "null"});
  expect_throw<std::invalid_argument>([&] { model->evaluate(nullptr); }, {"[evaluate]", "null"});
  expect_throw<std::invalid_argument>([&] { model->predict(nullptr); }, {"[predict]", "null"});
}

TEST(FitErrors, DataOfAnotherWidth) {
  const auto model = build(Mirrored(2), classifier());
  const auto wide = random_data({.rows = 10, .features = 5, .classes = 3});
  for (int call = 0; call < 3; ++call) {
    expect_throw<std::invalid_argument>(
        [&] {
          if (call == 0) model->fit(wide, {});
          if (call == 1) model->evaluate(wide);
          if (call == 2) model->predict(wide);
        },
        {"[data]", "'random'", "5 features", "takes 4"});
  }
}

TEST(FitErrors, ARefusedDataSetIsForgotten) {
  const auto model = build(Mirrored(2), classifier());
  Session& session = model->session();
  const auto wide = random_data({.rows = 10, .features = 5, .classes = 3});
  const std::vector<std::int64_t> order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_THROW(session.start_training(wide, 5), std::invalid_argument);
  EXPECT_THROW(session.train(order, 0, 1), std::logic_error) << "there is nothing to train on";
  session.start_training(good(), 5);
  EXPECT_THROW(session.start_training(wide, 5), std::invalid_argument);
  EXPECT_EQ(session.train(order, 0, 2).rows, 10) << "still the good one";
}

TEST(FitErrors, ALossThatDoesNotFitTheData) {
  const auto with_loss = [](const char* loss, int outputs, const testing::DataShape& shape) {
    Recipe recipe = classifier();
    recipe.layers = [outputs] { return std::vector<LayerPtr>{dense(outputs)}; };
    recipe.loss = make_loss(loss);
    recipe.metrics = {};
    return
        [model = std::shared_ptr(build(Mirrored(2), recipe)), shape] { model->fit(random_data(shape), {}); };
  };
  expect_throw<std::invalid_argument>(with_loss("mse", 3, {.rows = 9, .features = 4, .classes = 3}),
                                      {"mean_squared_error", "needs numeric targets", "sparse_categorical"});
  expect_throw<std::invalid_argument>(
      with_loss("sparse_categorical_crossentropy", 3, {.rows = 9, .features = 4, .target_columns = 3}),
      {"needs class labels", "mse"});
  expect_throw<std::invalid_argument>(with_loss("mae", 3, {.rows = 9, .features = 4, .target_columns = 2}),
                                      {"predicts 3 columns", "targets have 2"});
  expect_throw<std::invalid_argument>(
      with_loss("sparse_categorical_crossentropy_from_logits", 2, {.rows = 9, .features = 4, .classes = 3}),
      {"predicts 2 classes", "labels have 3"});
}

TEST(FitErrors, AMetricThatDoesNotFitTheData) {
  Recipe recipe = classifier();
  recipe.metrics = {"mae"};
  const auto model = build(Mirrored(2), recipe);
  expect_throw<std::invalid_argument>([&] { model->fit(good(), {}); },
                                      {"mean_absolute_error", "numeric targets"});
  Recipe regression;
  regression.layers = [] { return testing::line(0); };
  regression.metrics = {"sparse_categorical_accuracy"};
  const auto other = build(Mirrored(2), regression);
  expect_throw<std::invalid_argument>([&] { other->evaluate(points({1}, {1})); },
                                      {"[metric]", "needs class labels"});
}

TEST(FitErrors, AnEmptyDataSetCannotBeMade) {
  EXPECT_THROW(points({}, {}), DataError);
}

TEST(FitErrors, OrdersThatDoNotFit) {
  const auto model = build(Mirrored(2), classifier());
  Session& session = model->session();
  session.start_training(good(), 4);
  const std::vector<std::int64_t> order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  expect_throw<std::invalid_argument>([&] { session.train(std::span(order).first(9), 0, 1); },
                                      {"[train]", "order has 9 rows", "10"});
  expect_throw<std::invalid_argument>([&] { session.train(order, 2, 2); },
                                      {"[train]", "batches 2 .. 3", "3 batches"});
  expect_throw<std::invalid_argument>([&] { session.train(order, -1, 1); }, {"[train]", "batches -1"});
  EXPECT_EQ(session.train(order, 2, 1).rows, 2);
  Timeline timeline(2, 1);
  expect_throw<std::invalid_argument>([&] { session.train(order, 0, 2, &timeline); },
                                      {"[train]", "timeline"});
}

TEST(FitErrors, TooManySlotsOrMetrics) {
  class Greedy final : public Optimizer {
   public:
    Greedy() : Optimizer(constant_rate(1)) {}
    std::string name() const override { return "greedy"; }
    std::vector<std::string> slots() const override { return std::vector<std::string>(9, "s"); }
    void update(kernels::Backend&, const StepValues&, const UpdateRange&) const override {}
  };
  Recipe recipe = classifier();
  recipe.optimizer = [] { return std::make_shared<Greedy>(); };
  expect_throw<std::invalid_argument>([&] { build(OneDevice(), recipe); },
                                      {"[compile]", "'greedy'", "9 slots"});
  Recipe measured = classifier();
  measured.metrics.assign(15, "accuracy");
  expect_throw<std::invalid_argument>([&] { build(OneDevice(), measured); },
                                      {"[compile]", "15 metrics", "14"});
}

TEST(FitErrors, WeightsThatDoNotFit) {
  const auto model = build(Mirrored(2), classifier());
  const auto before = model->weights();
  auto weights = before;
  weights[1].values.push_back(1);
  EXPECT_THROW(model->set_weights(weights), std::invalid_argument);
  EXPECT_TRUE(same_bits(model->weights(), before));
}

/// Throws on the call given, on whichever replica makes it.
class BrokenLoss final : public Loss {
 public:
  std::string name() const override { return "broken"; }
  void check(int, const TargetShape&) const override {}
  void compute(kernels::Backend& backend, kernels::ConstMatrix y, const Targets& t, kernels::Matrix gradient,
               kernels::Column loss) const override {
    backend.synchronize();  // the host reads next
    if (--calls_left == 0) throw std::runtime_error("out of tokens");
    for (int r = 0; r < y.rows; ++r) {
      if (gradient) gradient.at(r, 0) = 2 * (y.at(r, 0) - t.values.at(r, 0));
      if (loss) loss[r] = 1;
    }
  }
  mutable std::atomic<int> calls_left = 0;
};

TEST(FitErrors, AReplicaThatFailsInAStepIsNamedAndTheModelStaysUsable) {
  const auto data = random_data({.rows = 32, .features = 4, .target_columns = 1});
  for (const int n : {1, 2, 4}) {
    const auto loss = std::make_shared<BrokenLoss>();
    Recipe recipe = classifier();
    recipe.layers = [] { return std::vector<LayerPtr>{dense(1)}; };
    recipe.optimizer = [] { return adam(); };
    recipe.loss = loss;
    recipe.metrics = {};
    const auto model = build(Mirrored(n), recipe);
    loss->calls_left = 5 * n + 1;  // five steps are whole, the sixth is not
    expect_throw<std::runtime_error>([&] { model->fit(data, {.global_batch = 4, .shuffle = false}); },
                                     {"out of tokens", n == 1 ? "" : "rank "});
    EXPECT_EQ(model->steps(), 5) << "steps that were done count";
    for (int r = 1; r < n; ++r) {
      EXPECT_TRUE(same_bits(model->session().arena(r), model->session().arena(0))) << "no half step";
    }
    EXPECT_EQ(model->fit(data, {.global_batch = 4}).epochs, 1);
    EXPECT_EQ(model->steps(), 13);
  }
}

// Of the stuck replica's thread, which outlives what it works with.
std::binary_semaphore stuck_may_go{0}, stuck_has_left{0};
struct TellsThatItsThreadLeft {
  bool tells = false;
  ~TellsThatItsThreadLeft() {
    if (tells) stuck_has_left.release();
  }
};
thread_local TellsThatItsThreadLeft this_thread;

/// The replica that holds row 0 waits in its first step until it is released.
class StuckLoss final : public Loss {
 public:
  std::string name() const override { return "stuck"; }
  void check(int, const TargetShape&) const override {}
  void compute(kernels::Backend& backend, kernels::ConstMatrix y, const Targets& t, kernels::Matrix gradient,
               kernels::Column loss) const override {
    backend.synchronize();  // the host reads next
    if (t.values.at(0, 0) == 0) {
      stuck_may_go.acquire();
      this_thread.tells = true;
    }
    for (int r = 0; r < y.rows; ++r) {
      if (gradient) gradient.at(r, 0) = 1;
      if (loss) loss[r] = 1;
    }
  }
};

TEST(FitErrors, AReplicaThatIsStuckIsNamedAndNothingHangs) {
  Recipe recipe;
  recipe.layers = [] { return testing::line(0); };
  recipe.loss = std::make_shared<StuckLoss>();
  StrategyOptions options;
  options.team.limit = std::chrono::milliseconds(200);
  auto model = build(Mirrored(3, options), recipe);
  expect_throw<RankLost>(
      [&] {
        model->fit(points({0, 1, 2}, {0, 1, 2}), {.global_batch = 3, .shuffle = false});
      },
      {"rank 0 did not come back", "rank 0 did not arrive at 'gradients ready'"});
  expect_throw<RankLost>([&] { model->predict(points({0}, {0})); }, {"make a new team"});
  model.reset();  // what the stuck replica works on lives on with it
  stuck_may_go.release();
  stuck_has_left.acquire();
}

TEST(FitErrors, CompilingAgainStartsAnew) {
  Recipe recipe = classifier();
  recipe.optimizer = [] { return adam(); };
  const auto model = build(Mirrored(2), recipe);
  model->fit(good(), {.global_batch = 4});
  EXPECT_EQ(model->steps(), 3);
  const auto weights = model->weights();
  model->compile("momentum", "sparse_categorical_crossentropy_from_logits");
  EXPECT_EQ(model->steps(), 0);
  EXPECT_TRUE(same_bits(model->weights(), weights)) << "the weights stay";
  ASSERT_EQ(model->slots().size(), 2U);
  EXPECT_EQ(model->slots()[0].name, "dense/kernel/momentum");
  EXPECT_EQ(model->slots()[0].values, std::vector<float>(12)) << "the slots start from 0";
}

}  // namespace
}  // namespace mirrorscale::strategies

#include "strategies/callbacks.h"

#include "tests/strategies/support/bits.h"
#include "tests/strategies/support/data.h"
#include "tests/strategies/support/expect_throw.h"
#include "tests/strategies/support/recipe.h"
#include "tests/strategies/support/toy_parts.h"

#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using testing::build;
using testing::expect_throw;
using testing::points;
using testing::Recipe;
using testing::same_bits;

/// loss = the next of a list, a value an evaluation; the gradient of each row is 1.
class Script final : public Loss {
 public:
  explicit Script(std::vector<float> values) : values_(std::move(values)) {}
  std::string name() const override { return "script"; }
  void check(int, const TargetShape&) const override {}
  void compute(kernels::Backend& backend, kernels::ConstMatrix y, const Targets&, kernels::Matrix gradient,
               kernels::Column loss) const override {
    backend.synchronize();  // the host reads next
    for (int r = 0; r < y.rows; ++r) {
      if (gradient) gradient.at(r, 0) = 1;
      if (loss) loss[r] = gradient ? 0 : values_[at_];
    }
    if (!gradient) ++at_;  // one replica, one batch an evaluation
  }

 private:
  const std::vector<float> values_;
  mutable std::size_t at_ = 0;
};

struct Stopped {
  int epochs = 0;
  float weight = 0;
};

/// Each epoch is one step that takes 1 from w, which starts from 0.
Stopped train(std::vector<float> val_losses, const EarlyStoppingOptions& options) {
  Recipe recipe;
  recipe.layers = [] { return testing::line(0); };
  recipe.loss = std::make_shared<Script>(val_losses);
  recipe.optimizer = [] { return sgd({.learning_rate = 1}); };
  const auto model = build(OneDevice(), recipe);
  const History history = model->fit(points({1}, {0}), {.epochs = static_cast<int>(val_losses.size()),
                                                        .global_batch = 1,
                                                        .validation = points({1}, {0}),
                                                        .callbacks = {early_stopping(options)}});
  EXPECT_EQ(history.values.at("val_loss").size(), static_cast<std::size_t>(history.epochs));
  return {history.epochs, model->weights()[0].values[0]};
}

TEST(EarlyStopping, StopsAfterPatienceEpochsWithoutImprovement) {
  const std::vector<float> losses = {5, 4, 4.5F, 4.25F, 3, 6, 6, 6, 6, 2};
  EXPECT_EQ(train(losses, {.patience = 0}).epochs, 3);
  EXPECT_EQ(train(losses, {.patience = 1}).epochs, 3);  // as Keras: 0 and 1 are alike
  EXPECT_EQ(train(losses, {.patience = 2}).epochs, 4);
  EXPECT_EQ(train(losses, {.patience = 3}).epochs, 8);  // the wait starts anew at 3
  EXPECT_EQ(train(losses, {.patience = 5}).epochs, 10);
}

TEST(EarlyStopping, ImprovesByMoreThanMinDelta) {
  EXPECT_EQ(train({5, 4, 3, 2}, {.min_delta = 0.5, .patience = 1}).epochs, 4);
  EXPECT_EQ(train({5, 4, 3, 2}, {.min_delta = 1, .patience = 1}).epochs, 2);
  // Small gains add up against the best so far.
  EXPECT_EQ(train({5, 4.5F, 4, 3.5F}, {.min_delta = 0.75, .patience = 2}).epochs, 4);
}

TEST(EarlyStopping, LargerMayBeBetter) {
  EXPECT_EQ(train({1, 2, 3, 2, 1}, {.patience = 2, .larger_is_better = true}).epochs, 5);
  EXPECT_EQ(train({3, 2, 1, 2, 1}, {.patience = 2, .larger_is_better = true}).epochs, 3);
}

TEST(EarlyStopping, MayRestoreTheBestWeights) {
  const std::vector<float> losses = {5, 4, 6, 6, 6};
  EXPECT_EQ(train(losses, {.patience = 2}).weight, -4);                                // four steps
  EXPECT_EQ(train(losses, {.patience = 2, .restore_best_weights = true}).weight, -2);  // after the second
  EXPECT_EQ(train({5, 4, 6}, {.patience = 9, .restore_best_weights = true}).weight, -2)
      << "also when not stopped";
}

TEST(EarlyStopping, StartsAnewWithEachFit) {
  Recipe recipe;
  recipe.layers = [] { return testing::line(0); };
  recipe.loss = std::make_shared<Script>(std::vector<float>{1, 2, 30, 20, 21});
  const auto model = build(OneDevice(), recipe);
  const FitOptions options{.epochs = 9,
                           .global_batch = 1,
                           .validation = points({1}, {0}),
                           .callbacks = {early_stopping({.patience = 1})}};
  EXPECT_EQ(model->fit(points({1}, {0}), options).epochs, 2);
  EXPECT_EQ(model->fit(points({1}, {0}), options).epochs, 3) << "30 is no worse than nothing";
}

TEST(EarlyStopping, SaysWhatItCannotFind) {
  Recipe recipe;
  recipe.layers = [] { return testing::line(0); };
  recipe.metrics = {"mae"};
  const auto model = build(OneDevice(), recipe);
  expect_throw<std::invalid_argument>(
      [&] { model->fit(points({1}, {0}), {.callbacks = {early_stopping()}}); },
      {"[early_stopping]", "'val_loss'", "there are: loss mae"});
  expect_throw<std::invalid_argument>([] { early_stopping({.patience = -1}); }, {"patience is -1"});
  EXPECT_NO_THROW(model->fit(points({1}, {0}), {})) << "the model is usable";
}

TEST(LearningRateScheduler, SetsTheRateOfEachEpoch) {
  Recipe recipe;
  recipe.layers = [] { return std::vector<LayerPtr>{std::make_shared<testing::Offset>(0.0F, true)}; };
  recipe.loss = std::make_shared<testing::LinearLoss>();
  recipe.optimizer = [] { return sgd({.learning_rate = 4}); };
  for (const int n : {1, 2}) {
    const auto model = build(Mirrored(n), recipe);
    std::vector<std::pair<int, double>> asked;
    model->fit(
        points({0, 0}, {1, 1}),
        {.epochs = 3, .global_batch = 1, .callbacks = {learning_rate_scheduler([&](int epoch, double rate) {
                                           asked.emplace_back(epoch, rate);
                                           return rate / 2;
                                         })}});
    EXPECT_EQ(asked, (std::vector<std::pair<int, double>>{{0, 4}, {1, 2}, {2, 1}}));
    EXPECT_EQ(model->weights()[0].values[0], -2 * (2 + 1 + 0.5F)) << "two steps an epoch";
  }
}

TEST(Schedule, RunsOverStepsAndGoesOnInTheNextFit) {
  Recipe recipe;
  recipe.layers = [] { return std::vector<LayerPtr>{std::make_shared<testing::Offset>(0.0F, true)}; };
  recipe.loss = std::make_shared<testing::LinearLoss>();
  recipe.optimizer = [] {
    const auto made = sgd();
    made->set_schedule(piecewise_constant_rate({2, 3}, {1, 10, 100}));
    return made;
  };
  const auto model = build(Mirrored(2), recipe);
  const auto data = points({0, 0, 0, 0}, {1, 1, 1, 1});
  model->fit(data, {.global_batch = 2});  // steps 0, 1
  EXPECT_EQ(model->weights()[0].values[0], -2);
  model->fit(data, {.global_batch = 2});  // steps 2, 3
  EXPECT_EQ(model->weights()[0].values[0], -112);
  EXPECT_EQ(model->steps(), 4);
}

TEST(History, HasAValueOfEachNameForEachEpoch) {
  Recipe recipe;
  recipe.layers = [] { return testing::line(0); };
  recipe.metrics = {"mae"};
  recipe.optimizer = [] { return sgd({.learning_rate = 0.25}); };
  const auto model = build(Mirrored(2), recipe);
  std::vector<std::string> lines;
  const History history =
      model->fit(points({1, 1}, {1, 1}), {.epochs = 2,
                                          .global_batch = 2,
                                          .initial_epoch = 5,
                                          .validation = points({2}, {2}),
                                          .callbacks = {on_epoch_end([&](int epoch, const Logs& logs) {
                                            lines.push_back(std::to_string(epoch));
                                            for (const auto& [name, value] : logs) lines.back() += " " + name;
                                          })}});
  // w: 0, 0.5, 0.75; losses before each update; validation after the epoch.
  EXPECT_EQ(history.epochs, 2);
  EXPECT_EQ(history.values,
            (std::map<std::string, std::vector<double>>{
                {"loss", {1, 0.25}}, {"mae", {1, 0.5}}, {"val_loss", {1, 0.25}}, {"val_mae", {1, 0.5}}}));
  EXPECT_EQ(lines, (std::vector<std::string>{"5 loss mae val_loss val_mae", "6 loss mae val_loss val_mae"}));
}

TEST(Validation, OfAnotherShapeLeavesTheTrainingAlone) {
  // Training rows carry weights and come in large batches, validation rows have none and come in small ones.
  Recipe recipe;
  recipe.features = 7;
  recipe.layers = [] { return std::vector<LayerPtr>{dense(9, "relu"), dense(3)}; };
  recipe.loss = make_loss("sparse_categorical_crossentropy_from_logits");
  const auto train = testing::random_data({.rows = 300, .features = 7, .classes = 3, .weighted = true});
  const auto validation = testing::random_data({.rows = 9, .features = 7, .classes = 2, .seed = 2});
  for (const int n : {1, 3}) {
    const auto with = build(Mirrored(n), recipe), without = build(Mirrored(n), recipe);
    with->fit(train, {.epochs = 3, .global_batch = 128, .validation = validation, .validation_batch = 2});
    without->fit(train, {.epochs = 3, .global_batch = 128});
    EXPECT_TRUE(same_bits(with->weights(), without->weights())) << n;
  }
}

TEST(Callbacks, MayEvaluateAndPredictInTheMiddleOfAFit) {
  Recipe recipe;
  recipe.features = 7;
  recipe.layers = [] { return std::vector<LayerPtr>{dense(9, "gelu"), dense(3)}; };
  recipe.loss = make_loss("sparse_categorical_crossentropy_from_logits");
  const auto train = testing::random_data({.rows = 100, .features = 7, .classes = 3, .weighted = true});
  const auto other = testing::random_data({.rows = 500, .features = 7, .classes = 3});
  class Meddler final : public Callback {
   public:
    explicit Meddler(DatasetPtr data) : data_(std::move(data)) {}
    bool wants_batches() const override { return true; }
    void on_train_batch_end(LoopControl& control, std::int64_t, const Logs&) override {
      control.model.evaluate(data_, {.global_batch = 3});
      control.model.predict(data_, 300);
    }

   private:
    const DatasetPtr data_;
  };
  const auto with = build(Mirrored(2), recipe), without = build(Mirrored(2), recipe);
  with->fit(train, {.epochs = 2, .global_batch = 32, .callbacks = {std::make_shared<Meddler>(other)}});
  without->fit(train, {.epochs = 2, .global_batch = 32});
  EXPECT_TRUE(same_bits(with->weights(), without->weights()));
}

/// Throws at one place.
class Thrower final : public Callback {
 public:
  explicit Thrower(std::string place) : place_(std::move(place)) {}
  bool wants_batches() const override { return true; }
  void on_train_begin(LoopControl&) override { at("train_begin"); }
  void on_train_end(LoopControl&, const Logs&) override { at("train_end"); }
  void on_epoch_begin(LoopControl&, int) override { at("epoch_begin"); }
  void on_epoch_end(LoopControl&, int, const Logs&) override { at("epoch_end"); }
  void on_train_batch_begin(LoopControl&, std::int64_t) override { at("train_batch_begin"); }
  void on_train_batch_end(LoopControl&, std::int64_t, const Logs&) override { at("train_batch_end"); }
  void on_test_begin(LoopControl&) override { at("test_begin"); }
  void on_test_end(LoopControl&, const Logs&) override { at("test_end"); }
  void on_test_batch_begin(LoopControl&, std::int64_t) override { at("test_batch_begin"); }
  void on_test_batch_end(LoopControl&, std::int64_t, const Logs&) override { at("test_batch_end"); }

 private:
  void at(const char* place) const {
    if (place_ == place) throw std::runtime_error("thrown at " + place_);
  }
  const std::string place_;
};

TEST(Callbacks, ExceptionsReachTheCallerAndTheModelStaysUsable) {
  Recipe recipe;
  recipe.layers = [] { return testing::line(0); };
  const auto data = points({1, 2, 3}, {1, 2, 3});
  for (const char* place :
       {"train_begin", "train_end", "epoch_begin", "epoch_end", "train_batch_begin", "train_batch_end",
        "test_begin", "test_end", "test_batch_begin", "test_batch_end"}) {
    const auto model = build(Mirrored(2), recipe);
    expect_throw<std::runtime_error>(
        [&] {
          model->fit(
              data, {.global_batch = 2, .validation = data, .callbacks = {std::make_shared<Thrower>(place)}});
        },
        {(std::string("thrown at ") + place).c_str()});
    EXPECT_EQ(model->fit(data, {.epochs = 2, .global_batch = 2, .validation = data}).epochs, 2) << place;
  }
}

}  // namespace
}  // namespace mirrorscale::strategies

// What rides on an update beside its rule: rates by array, exclusions, the average of the weights, and steps
// that are not finite. Cases on paper, on several replicas.
#include "tests/strategies/support/bits.h"
#include "tests/strategies/support/expect_throw.h"
#include "tests/strategies/support/offsets.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using testing::build;
using testing::first;
using testing::given_data;
using testing::gradients;
using testing::in_order;
using testing::LinearLoss;
using testing::Offset;
using testing::offsets;
using testing::Recipe;
using testing::same_bits;
using testing::Values;
using testing::values_of;
using testing::with_scale;

constexpr int kCounts[] = {1, 2, 4};

/// Two steps of gradient (3, 4) in each row, from weights (6, 8) that are decayed and (6, 8) that are not.
std::vector<NamedArray> layerwise(int n, const std::string& reducer, const std::string& optimizer) {
  Recipe recipe;
  recipe.features = 2;
  recipe.layers = [] {
    return std::vector<LayerPtr>{std::make_shared<Offset>(0.0F, true), std::make_shared<Offset>(0.0F, false)};
  };
  recipe.loss = std::make_shared<LinearLoss>();
  recipe.optimizer = [&] { return make_optimizer(optimizer); };
  const float mean = 1.0F / static_cast<float>(n);
  const auto model = build(Mirrored(n, with_scale(mean, reducer)), recipe);
  model->set_weights({{"offset/v", {2}, {6, 8}}, {"offset_1/v", {2}, {6, 8}}});
  Values rows;
  for (int r = 0; r < n; ++r) rows.insert(rows.end(), {3, 4});
  model->fit(gradients(2, rows), in_order(n, 2));
  return model->weights();
}

TEST(Layerwise, LarsOnPaper) {
  for (const int n : kCounts) {
    for (const std::string& reducer : testing::exact_reducers()) {
      // |w| = 10, |g| = 5: the rate is 0.5 * 0.1 * 10 / (5 + 0.5 * 10) = 0.05, the gradient g + 0.5 w = (6,
      // 8): w = (5.7, 7.6), |w| = 9.5, rate 0.05 * 9.5 / 9.75, gradient (5.85, 7.8).
      const auto w = layerwise(n, reducer, "lars:0.5:momentum=0:trust=0.1:weight_decay=0.5");
      const double rate = 0.05 * 9.5 / 9.75;
      EXPECT_NEAR(values_of(w, "offset/v")[0], 5.7 - rate * 5.85, 1e-5) << n << reducer;
      EXPECT_NEAR(values_of(w, "offset/v")[1], 7.6 - rate * 7.8, 1e-5);
      // What is not decayed is plain descent: 6 - 2 * 0.5 * 3.
      EXPECT_NEAR(values_of(w, "offset_1/v")[0], 3, 1e-5);
    }
  }
}

TEST(Layerwise, LambOnPaper) {
  for (const int n : kCounts) {
    for (const std::string& reducer : testing::exact_reducers()) {
      // With one gradient in all steps m and v are its first and second powers after bias correction: the
      // direction is (1, 1) + 0.5 w. In the first step that is (4, 5), of norm sqrt(41), and |w| is 10.
      const auto w = layerwise(n, reducer, "lamb:0.1:weight_decay=0.5:epsilon=1e-30");
      double x = 6, y = 8;
      for (int step = 0; step < 2; ++step) {
        const double dx = 1 + 0.5 * x, dy = 1 + 0.5 * y;
        const double factor = 0.1 * std::sqrt(x * x + y * y) / std::sqrt(dx * dx + dy * dy);
        x -= factor * dx;
        y -= factor * dy;
      }
      EXPECT_NEAR(values_of(w, "offset/v")[0], x, 2e-5) << n << reducer;
      EXPECT_NEAR(values_of(w, "offset/v")[1], y, 2e-5);
      EXPECT_NEAR(values_of(w, "offset_1/v")[0], 5.8, 2e-5);  // the direction alone, twice, at 0.1
    }
  }
}

TEST(Layerwise, ANormOfZeroLeavesTheRateAlone) {
  // From 0, |w| = 0: both rules take the rate as it is. A gradient of 0 moves nothing and makes no NaN.
  for (const char* text : {"lars:0.5:momentum=0:weight_decay=0", "lamb:0.5:epsilon=1e-30"}) {
    for (const float gradient : {1.0F, 0.0F}) {
      Recipe recipe = offsets({0});
      recipe.optimizer = [&] { return make_optimizer(text); };
      const auto model = build(Mirrored(2), recipe);
      model->fit(gradients(1, {gradient, gradient}), in_order(2));
      EXPECT_NEAR(first(*model)[0], -0.5F * gradient, 1e-6) << text;
    }
  }
}

TEST(WeightDecay, SparesTheRolesThatAreExcluded) {
  const auto left = [](const char* text) {
    Recipe recipe;
    recipe.features = 2;
    recipe.layers = [] {
      return std::vector<LayerPtr>{layer_norm(),
                                   dense(1, DenseOptions{.kernel_initializer = {Initializer::Kind::kOnes, 0},
                                                         .bias_initializer = {Initializer::Kind::kOnes, 0}})};
    };
    recipe.optimizer = [&] { return make_optimizer(text); };
    const auto model = build(Mirrored(2), recipe);
    // Without weight there is no gradient: decay alone acts.
    model->fit(given_data(2, {1, 2, 3, 4}, 1, {1, 1}, {0, 0}), in_order(2));
    const auto weights = model->weights();
    return Values{values_of(weights, "layer_norm/gamma")[0], values_of(weights, "dense/kernel")[0],
                  values_of(weights, "dense/bias")[0]};
  };
  EXPECT_EQ(left("sgd:0.5:weight_decay=0.5"), (Values{0.75F, 0.75F, 0.75F}));
  EXPECT_EQ(left("adamw:0.5:weight_decay=0.5:exclude=bias"), (Values{0.75F, 0.75F, 1}));
  EXPECT_EQ(left("nesterov:0.5:weight_decay=0.5:exclude=bias+norm"), (Values{1, 0.75F, 1}));
}

TEST(Average, OfWeightsFollowsKeras) {
  for (const int n : kCounts) {
    for (const std::string& reducer : testing::exact_reducers()) {
      // Plain descent from 0 along gradient -4: w = 4, 8, 12. The average begins at the first, 4; with
      // momentum 0.75 it is 5 and 6.75.
      Recipe recipe = offsets({0});
      recipe.optimizer = [] { return make_optimizer("sgd:1:ema=0.75"); };
      const auto model = build(Mirrored(n, testing::with_reducer(reducer)), recipe);
      model->fit(gradients(1, Values(4, -4)), in_order(4, 3));
      EXPECT_EQ(first(*model), Values{12}) << n << reducer;
      EXPECT_EQ(values_of(model->slots(), "offset/v/average"), Values{6.75F}) << n << reducer;
      model->use_average();
      EXPECT_EQ(first(*model), Values{6.75F});
      // Written over the weights after the second step: 5; then 9, and the average 5 + 0.25 * 4.
      recipe.optimizer = [] { return make_optimizer("sgd:1:ema=0.75:ema_overwrite=2"); };
      const auto written = build(Mirrored(n, testing::with_reducer(reducer)), recipe);
      written->fit(gradients(1, Values(4, -4)), in_order(4, 3));
      EXPECT_EQ(first(*written), Values{9}) << n << reducer;
      EXPECT_EQ(values_of(written->slots(), "offset/v/average"), Values{6});
    }
  }
  Recipe plain = offsets({0});
  EXPECT_THROW(build(Mirrored(1), plain)->use_average(), std::invalid_argument);
}

/// Six steps of two rows; in the third the loss is beyond float's range, or the gradient alone.
DatasetPtr with_bad_step(bool loss) {
  const float most = std::numeric_limits<float>::max(), x = loss ? most : 0, bad = loss ? 4 : most;
  return given_data(1, {0, 0, 0, 0, x, x, 0, 0, 0, 0, 0, 0}, 1, {1, 1, 1, 1, bad, bad, 1, 1, 1, 1, 1, 1});
}

TEST(OnNan, SkipLeavesOutTheStepOnAllReplicas) {
  for (const bool loss : {true, false}) {
    for (const int n : kCounts) {
      for (const std::string& reducer : testing::exact_reducers()) {
        SCOPED_TRACE(reducer + " " + std::to_string(n) + (loss ? " loss" : " gradient"));
        for (const char* text : {"momentum:0.1", "adam:0.1:clip_global_norm=0.5", "lamb:0.1"}) {
          Recipe recipe = offsets({0});
          recipe.optimizer = [&] { return make_optimizer(text); };
          FitOptions options = in_order(2);
          options.on_nan = OnNan::kSkip;
          const auto model = build(Mirrored(n, testing::with_reducer(reducer)), recipe);
          const History history = model->fit(with_bad_step(loss), options);
          EXPECT_EQ(model->steps(), 5);
          EXPECT_EQ(history.values.at("skipped_steps"), std::vector<double>{1});
          EXPECT_TRUE(std::isfinite(history.values.at("loss")[0]));
          // As if the two rows had never been there.
          const auto clean = build(Mirrored(n, testing::with_reducer(reducer)), recipe);
          clean->fit(gradients(1, Values(10, 1)), in_order(2));
          for (int r = 0; r < n; ++r)
            EXPECT_TRUE(same_bits(model->session().weights(r), clean->weights())) << text;
          EXPECT_TRUE(same_bits(model->slots(), clean->slots())) << text;
          // Without looking it moves the weights: so the comparison can fail.
          const auto moved = build(Mirrored(n, testing::with_reducer(reducer)), recipe);
          moved->fit(with_bad_step(loss), in_order(2));
          EXPECT_FALSE(same_bits(moved->weights(), clean->weights())) << text;
        }
      }
    }
  }
}

TEST(OnNan, StopLeavesTheLastGoodStateAndSaysWhere) {
  for (const bool loss : {true, false}) {
    for (const int n : kCounts) {
      Recipe recipe = offsets({0});
      recipe.optimizer = [] { return make_optimizer("momentum:0.1"); };
      FitOptions options = in_order(2, 2);
      options.on_nan = OnNan::kStop;
      const auto model = build(Mirrored(n), recipe);
      testing::expect_throw<NonFiniteStep>(
          [&] { model->fit(with_bad_step(loss), options); },
          {"epoch 1, batch 3", loss ? "the loss" : "the gradient", "2 steps are done"});
      EXPECT_EQ(model->steps(), 2);
      const auto clean = build(Mirrored(n), recipe);
      clean->fit(gradients(1, Values(4, 1)), in_order(2));
      EXPECT_TRUE(same_bits(model->weights(), clean->weights())) << n;
      EXPECT_TRUE(same_bits(model->slots(), clean->slots())) << n;
    }
  }
}

TEST(OnNan, LookingDoesNotChangeABit) {
  Recipe recipe;
  recipe.features = 7;
  recipe.layers = [] { return std::vector<LayerPtr>{dense(40, "tanh"), dense(3)}; };
  recipe.optimizer = [] { return make_optimizer("adam:0.01:clip_value=0.01"); };
  const auto data = testing::random_data({.rows = 20, .features = 7, .target_columns = 3});
  for (const std::string& reducer : testing::exact_reducers()) {
    FitOptions options = in_order(6, 2);
    const auto plain = build(Mirrored(3, testing::with_reducer(reducer)), recipe);
    plain->fit(data, options);
    options.on_nan = OnNan::kSkip;
    const auto guarded = build(Mirrored(3, testing::with_reducer(reducer)), recipe);
    guarded->fit(data, options);
    EXPECT_TRUE(same_bits(plain->weights(), guarded->weights())) << reducer;
  }
}

TEST(OnNan, IsRefusedWhereNothingIsReduced) {
  Recipe recipe = offsets({0});
  FitOptions options = in_order(2);
  options.on_nan = OnNan::kStop;
  const auto model = build(ModelAveraging(device_names(2)), recipe);
  testing::expect_throw<std::invalid_argument>(
      [&] {
        model->fit(gradients(1, {1, 1}), options);
      },
      {"model averaging", "continue"});
}

}  // namespace
}  // namespace mirrorscale::strategies

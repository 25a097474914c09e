// Cases computed on paper.
#include "scenarios/oracle/sequence.h"
#include "scenarios/oracle/trainer.h"

#include <cmath>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace mirrorscale::scenarios::oracle {
namespace {

using Values = std::vector<double>;

Trainer line(double w, Settings settings, bool bias = false) {
  std::vector<std::vector<double>> weights{{w}};
  if (bias) weights.push_back({0});
  settings.loss = Loss::kMeanSquaredError;
  return {{{.inputs = 1, .outputs = 1, .bias = bias}}, settings, weights};
}

// y = 3x, w = 0, squared error, SGD 0.01, batches of 4: 0.45, then 2.32 by the mean over the short batch's
// own rows.
TEST(OracleCases, AShortBatchIsTheMeanOverItsOwnRows) {
  Trainer trainer = line(0, {.optimizer = Sgd{.rate = 0.01}});
  const Values x{1, 2, 3, 4, 5, 6, 7}, y{3, 6, 9, 12, 15, 18, 21};
  const std::span<const double> all_x(x), all_y(y);
  EXPECT_NEAR(trainer.step({.rows = 4, .x = all_x.first(4), .targets = all_y.first(4)}).total().value, 67.5,
              1e-12);
  EXPECT_NEAR(trainer.weights(0).values[0], 0.45, 1e-14);
  trainer.step({.rows = 3, .x = all_x.last(3), .targets = all_y.last(3)});
  EXPECT_NEAR(trainer.weights(0).values[0], 2.32, 1e-14);
}

// w = 2, x = 2, 7, y = 6, 21, rate 0.001: gradient -53.
TEST(OracleCases, TheLossIsAMean) {
  Trainer trainer = line(2, {.optimizer = Sgd{.rate = 0.001}});
  trainer.step({.rows = 2, .x = Values{2, 7}, .targets = Values{6, 21}});
  EXPECT_NEAR(trainer.gradients(0).values[0], -53, 1e-12);
  EXPECT_NEAR(trainer.weights(0).values[0], 2.053, 1e-14);
}

// w = 1, b = 0, x = 0..3, y = 2, 4, 6, 8: squared errors 4, 9, 16, 25.
TEST(OracleCases, EvaluateWithAndWithoutSampleWeights) {
  const Values x{0, 1, 2, 3}, y{2, 4, 6, 8}, weights{0.25, 0.5, 0.75, 1};
  const Batch plain{.rows = 4, .x = x, .targets = y},
      weighted{.rows = 4, .x = x, .targets = y, .weights = weights};
  EXPECT_NEAR(line(1, {}, true).evaluate(plain).loss.data.value, 13.5, 1e-13);
  EXPECT_NEAR(line(1, {}, true).evaluate(weighted).loss.data.value, 42.5 / 2.5, 1e-13);
  EXPECT_NEAR(line(1, {.normaliser = Normaliser::kRows}, true).evaluate(weighted).loss.data.value, 10.625,
              1e-13);
}

TEST(OracleCases, WeightsOfZeroTrainNothing) {
  Trainer trainer = line(2, {.optimizer = Sgd{.rate = 1}});
  EXPECT_EQ(
      trainer.step({.rows = 1, .x = Values{1}, .targets = Values{0}, .weights = Values{0}}).total().value, 0);
  EXPECT_EQ(trainer.weights(0).values[0], 2);
}

// Gradient 2 each time, rate 0.5, momentum 0.5: m = -1, -1.5; Nesterov adds 0.5 m - 1 = -1.5, -1.75.
TEST(OracleCases, MomentumAndNesterov) {
  const auto after_two = [](bool nesterov) {
    Trainer trainer({{.inputs = 1, .outputs = 1, .bias = false}},
                    {.loss = Loss::kMeanAbsoluteError,
                     .optimizer = Sgd{.rate = 0.5, .momentum = 0.5, .nesterov = nesterov}},
                    {{10}});
    for (int i = 0; i < 2; ++i) trainer.step({.rows = 1, .x = Values{2}, .targets = Values{0}});
    EXPECT_EQ(trainer.slots(0, 0).values[0], -1.5);
    return trainer.weights(0).values[0];
  };
  EXPECT_EQ(after_two(false), 10 - 1 - 1.5);
  EXPECT_EQ(after_two(true), 10 - 1.5 - 1.75);
}

// loss |w| + 0.25 |w| + 0.5 w^2 at w = 2: 2 + 0.5 + 2; gradient 1 + 0.25 + 2, clipped to norm 0.5.
TEST(OracleCases, PenaltiesCountOnceAndClippingComesLast) {
  Trainer trainer({{.inputs = 1, .outputs = 1, .bias = false, .l1 = 0.25, .l2 = 0.5}},
                  {.loss = Loss::kMeanAbsoluteError, .optimizer = Sgd{.rate = 1}, .global_clip_norm = 0.5},
                  {{2}});
  const LossEstimate loss = trainer.step({.rows = 3, .x = Values{1, 1, 1}, .targets = Values{0, 0, 0}});
  EXPECT_DOUBLE_EQ(loss.data.value, 2);
  EXPECT_DOUBLE_EQ(loss.penalty.value, 2.5);
  EXPECT_DOUBLE_EQ(trainer.weights(0).values[0], 1.5);
}

// x = 2, w = 3, target 1: product 6 (scale 6), difference 5 (6 + 5), slope 10 (22, and 20 for two factors),
// gradient 20: 2 * 42 beside the sum's own 20, and 40 for the mean.
TEST(OracleCases, TheErrorOfOneProductAsOnPaper) {
  Trainer trainer = line(3, {.optimizer = Sgd{.rate = 0.5}});
  trainer.step({.rows = 1, .x = Values{2}, .targets = Values{1}});
  const double gradient_scale = std::sqrt(84.0 * 84 + 20 * 20) + 40;
  EXPECT_NEAR(trainer.gradients(0).bounds[0], 7 * 0x1p-24 * gradient_scale, 1e-18);
  const double step_scale =
      0.5 * (gradient_scale + 40);  // the rate's rounding and the product's; w becomes -7
  EXPECT_EQ(trainer.weights(0).values[0], -7);
  EXPECT_NEAR(trainer.weights(0).bounds[0], 7 * 0x1p-24 * std::sqrt(step_scale * step_scale + 49), 1e-18);
}

// 1/3 * 1/3 from the nearest floats: 1/9 for the product's rounding and 1/9 for x's are independent, 1/9 for
// w's.
TEST(OracleCases, TheStartMayHaveToBeRoundedToo) {
  Settings settings;
  Trainer exact = line(1.0 / 3, settings);
  settings.errors.rounds_inputs = settings.errors.rounds_weights = true;
  Trainer rounded = line(1.0 / 3, settings);
  const double unit = 7 * 0x1p-24 / 9;
  EXPECT_LT(exact.weights(0).bounds[0], 1e-29);
  EXPECT_NEAR(exact.predict(Values{1.0 / 3}, 1).bounds[0], unit, 1e-20);
  EXPECT_NEAR(rounded.weights(0).bounds[0], 3 * unit, 1e-20);
  EXPECT_NEAR(rounded.predict(Values{1.0 / 3}, 1).bounds[0], unit * (std::sqrt(2.0) + 1), 1e-20);
}

// x = 2, then 3 and 5: 6 with scale 6, and 30 whose own rounding (30) is independent of 5 * 6.
TEST(OracleCases, TheErrorOfAFeatureGoesOnThroughTheNextLayer) {
  Trainer trainer({{.inputs = 1, .outputs = 1, .bias = false}, {.inputs = 1, .outputs = 1, .bias = false}},
                  {.loss = Loss::kMeanSquaredError}, {{3}, {5}});
  const Estimates prediction = trainer.predict(Values{2}, 1);
  EXPECT_EQ(prediction.values[0], 30);
  EXPECT_NEAR(prediction.bounds[0], 7 * 0x1p-24 * std::sqrt(30.0 * 30 + 25 * 6 * 6), 1e-18);
}

// The sum 1 - 1 +- 2^-23 is within its error of 0: the unit may be on or off, and the whole gradient is in
// doubt. doubt.
TEST(OracleCases, AtTheKinkOfReluTheWholeGradientIsAnError) {
  const auto bound_at = [](double x1) {
    Trainer trainer({{.inputs = 2, .outputs = 1, .activation = Activation::kRelu, .bias = false}},
                    {.loss = Loss::kMeanAbsoluteError, .optimizer = Sgd{.rate = 1}}, {{1, 1}});
    trainer.step({.rows = 1, .x = Values{1, x1}, .targets = Values{-5}});
    return trainer.gradients(0).bounds[0];
  };
  EXPECT_GE(bound_at(-1 + 0x1p-23), 1);
  EXPECT_GE(bound_at(-1 - 0x1p-23), 1);
  EXPECT_LT(bound_at(-0.5), 1e-5);
  EXPECT_LT(bound_at(-2), 1e-5);
}

// A first gradient below its own error: Adam's step may be anything within the rate, and no more.
TEST(OracleCases, AdamsStepErrorIsCappedByTheRate) {
  Trainer trainer({{.inputs = 1, .outputs = 1, .bias = false}},
                  {.loss = Loss::kMeanSquaredError, .optimizer = Adam{.rate = 0.01}}, {{1}});
  trainer.step({.rows = 2, .x = Values{1, -1}, .targets = Values{0, -2 + 0x1p-30}});
  EXPECT_LT(std::fabs(trainer.gradients(0).values[0]), trainer.gradients(0).bounds[0]);
  EXPECT_GT(trainer.weights(0).bounds[0], 0.01);
  EXPECT_LT(trainer.weights(0).bounds[0], 0.0201);
}

TEST(OracleCases, AccuracyAndWhatIsTooCloseToCall) {
  const auto accuracy = [](Values x, std::vector<int> labels) {
    Trainer trainer({{.inputs = 2, .outputs = 2, .bias = false}}, {}, {{1, 0, 0, 1}});
    return *trainer.evaluate({.rows = labels.size(), .x = x, .labels = labels}).accuracy;
  };
  const Estimate clear = accuracy({1, 0, 0, 1, 1, 0, 2, 1}, {0, 1, 1, 0});
  EXPECT_DOUBLE_EQ(clear.value, 0.75);
  EXPECT_LT(clear.bound, 1e-5);
  EXPECT_NEAR(accuracy({1, 1 + 1e-9, 0, 1}, {0, 1}).bound, 0.5, 1e-5);

  Trainer binary({{.inputs = 1, .outputs = 1, .bias = false}}, {.loss = Loss::kBinaryCrossEntropyFromLogits},
                 {{1}});
  const Evaluation evaluation =
      binary.evaluate({.rows = 3, .x = Values{1, 0.25, 0}, .targets = Values{1, 1, 0}});
  EXPECT_DOUBLE_EQ(evaluation.accuracy->value, 2.0 / 3);
  EXPECT_FALSE(line(1, {}).evaluate({.rows = 1, .x = Values{1}, .targets = Values{1}}).accuracy.has_value());
}

TEST(OracleCases, AdoptedNumbersHaveNoErrorAndTheStepCountGoesOn) {
  Trainer trainer({{.inputs = 1, .outputs = 1, .bias = false}},
                  {.loss = Loss::kMeanSquaredError, .optimizer = Adam{.rate = 0.01}}, {{1}});
  const Values x{1}, y{0};
  trainer.step({.rows = 1, .x = x, .targets = y});
  const std::vector<float> w{0.5F}, m{0.25F}, v{0.125F};
  trainer.adopt(0, w, m, v);
  EXPECT_EQ(trainer.weights(0).values[0], 0.5);
  EXPECT_LT(trainer.weights(0).bounds[0], 1e-29);
  trainer.step({.rows = 1, .x = x, .targets = y});  // gradient 1
  const double m2 = 0.9 * 0.25 + 0.1, v2 = 0.999 * 0.125 + 0.001;
  const double rate = 0.01 * std::sqrt(1 - 0.999 * 0.999) / (1 - 0.81);
  EXPECT_NEAR(trainer.weights(0).values[0], 0.5 - rate * m2 / (std::sqrt(v2) + 1e-7), 1e-15);
  EXPECT_THROW(trainer.adopt(0, w, m), std::invalid_argument);
}

/// One feature, y = x + 3 x, and l2 = 0.5: 0.5 * 9 beside the data's loss (4 - 1)^2, gradient 2 * 3 * 1 + 3.
TEST(OracleCases, PenaltiesCountInsideOfABranchToo) {
  std::vector<std::unique_ptr<Layer>> layers, branch;
  branch.push_back(make_layer(Dense{.inputs = 1, .outputs = 1, .bias = false, .l2 = 0.5}));
  layers.push_back(residual(stack(std::move(branch)), nullptr, Activation::kLinear));
  Trainer trainer(std::move(layers), {.loss = Loss::kMeanSquaredError, .optimizer = Sgd{.rate = 1}}, {{3}});
  const Values one{1};
  const LossEstimate loss = trainer.step({.rows = 1, .x = one, .targets = one});
  EXPECT_EQ(loss.data.value, 9);
  EXPECT_EQ(loss.penalty.value, 4.5);
  EXPECT_EQ(trainer.gradients(0).values, Values{9});
  EXPECT_EQ(trainer.weights(0).values, Values{-6});
}

TEST(OracleCases, RefusesWhatDoesNotFit) {
  const std::vector<Dense> layers{{.inputs = 2, .outputs = 3}};
  EXPECT_THROW(Trainer(std::vector<Dense>{}, {}, {}), std::invalid_argument);
  EXPECT_THROW(Trainer(layers, {}, {Values(6)}), std::invalid_argument);
  EXPECT_THROW(Trainer(layers, {}, {Values(5), Values(3)}), std::invalid_argument);
  EXPECT_THROW(Trainer(layers, {}, {Values(6), Values(3), Values(1)}), std::invalid_argument);
  EXPECT_THROW(
      Trainer(std::vector<Dense>{layers[0], layers[0]}, {}, {Values(6), Values(3), Values(6), Values(3)}),
      std::invalid_argument);
  Trainer trainer(layers, {}, {Values(6), Values(3)});
  const Values x(4), y(6);
  const std::vector<int> good{0, 2}, bad{0, 3};
  EXPECT_NO_THROW(trainer.step({.rows = 2, .x = x, .labels = good}));
  EXPECT_THROW(trainer.step({.rows = 2, .x = x, .labels = bad}), std::invalid_argument);
  EXPECT_THROW(trainer.step({.rows = 3, .x = x, .labels = good}), std::invalid_argument);
  EXPECT_THROW(trainer.step({.rows = 2, .x = x, .targets = y}), std::invalid_argument);
  EXPECT_THROW(trainer.step({.rows = 0, .x = {}}), std::invalid_argument);
  EXPECT_THROW(activation_from("swish"), std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::scenarios::oracle

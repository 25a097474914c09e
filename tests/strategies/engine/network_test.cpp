#include "strategies/engine/network.h"

#include "strategies/model.h"
#include "tests/strategies/support/expect_throw.h"

#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

using testing::expect_throw;

TEST(Network, NamesStagesAndParameters) {
  const Network network(
      7, {dense(5, "relu"), activation("tanh"), dense(3, DenseOptions{.use_bias = false}), dense(2)});
  std::vector<std::string> stages, parameters;
  for (const auto& stage : network.stages()) stages.push_back(stage.name);
  for (const auto& slice : network.parameters().slices()) parameters.push_back(slice.spec.name);
  EXPECT_EQ(stages, (std::vector<std::string>{"dense", "activation", "dense_1", "dense_2"}));
  EXPECT_EQ(parameters, (std::vector<std::string>{"dense/kernel", "dense/bias", "dense_1/kernel",
                                                  "dense_2/kernel", "dense_2/bias"}));
  EXPECT_EQ(network.features(), 7);
  EXPECT_EQ(network.outputs(), 2);
  EXPECT_EQ(network.chain().largest_matrix(1), kernels::activation_size(1, 7));
  EXPECT_EQ(network.parameters().count(), 7U * 5 + 5 + 5 * 3 + 3 * 2 + 2);
  // Forward 2 in out a layer; backward as much again for the weights, and for dx where an earlier layer
  // trains.
  EXPECT_EQ(network.flops_per_row(), 4 * 7 * 5 + 6 * 5 * 3 + 6 * 3 * 2);
}

TEST(Network, SummaryCountsTheParameters) {
  const std::string text = Network(784, {dense(512, "relu"), dense(10)}).summary();
  for (const char* part : {"dense ", "[512]", "relu", "401920", "dense_1", "5130", "parameters: 407050"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST(Network, RefusesWhatCannotBeBuilt) {
  expect_throw<std::invalid_argument>([] { Network(3, {}); }, {"[model]", "no layers"});
  expect_throw<std::invalid_argument>([] { Network(0, {dense(1)}); }, {"features is 0"});
  expect_throw<std::invalid_argument>([] { Network(1, {dense(1), nullptr}); }, {"layer is null"});
  expect_throw<std::invalid_argument>([] { dense(0); }, {"[dense]", "units is 0"});
  expect_throw<std::invalid_argument>([] { dense(1, "swish"); }, {"swish", "relu", "softmax"});
}

TEST(Network, RefusesALayerThatHasAnotherPlaceAlready) {
  const LayerPtr twice = dense(4);
  expect_throw<std::invalid_argument>([&] { Network(4, {twice, twice}); }, {"make a new layer"});
  const LayerPtr used = dense(4), other = dense(4);
  const Network first(4, {used});
  expect_throw<std::invalid_argument>([&] { Network(8, {used}); },
                                      {"built for 4 features", "make a new layer"});
  // As wide, but elsewhere in the arena: it would read another layer's weights.
  expect_throw<std::invalid_argument>([&] { Network(4, {other, used}); }, {"make a new layer"});
}

TEST(Network, InitialWeightsDependOnTheSeedAlone) {
  const auto weights = [](std::uint64_t seed) {
    return Network(7, {dense(5), dense(5)}).initial_weights(seed);
  };
  const auto a = weights(3), b = weights(3), c = weights(4);
  for (std::size_t p = 0; p < a.size(); ++p) EXPECT_EQ(a[p].values, b[p].values);
  EXPECT_NE(a[0].values, c[0].values);
  EXPECT_EQ(a[1].values, std::vector<float>(5)) << "biases start from 0";
  const Network twins(5, {dense(5), dense(5)});
  const auto t = twins.initial_weights(3);
  EXPECT_NE(t[0].values, t[2].values) << "two layers of one shape don't start alike";
  // Glorot: within sqrt(6 / 12), and not all of them near 0.
  float largest = 0;
  for (const float v : a[0].values) largest = std::max(largest, std::abs(v));
  EXPECT_LE(largest, std::sqrt(0.5F));
  EXPECT_GT(largest, 0.5F);
}

TEST(Names, OfLossesMetricsOptimizers) {
  for (const char* name : {"sparse_categorical_crossentropy", "sparse_categorical_crossentropy_from_logits",
                           "binary_crossentropy", "binary_crossentropy_from_logits"}) {
    EXPECT_EQ(make_loss(name)->name(), name);
  }
  EXPECT_EQ(make_loss("mse")->name(), "mean_squared_error");
  EXPECT_EQ(make_loss("mean_absolute_error")->name(), "mean_absolute_error");
  for (const char* name : {"sgd", "momentum", "nesterov", "adam", "adamw"}) {
    EXPECT_EQ(make_optimizer(name)->name(), name);
  }
  EXPECT_EQ(make_optimizer("adam:0.25")->learning_rate(7), 0.25);
  expect_throw<std::invalid_argument>([] { make_loss("huber"); }, {"'huber'", "mse", "mae"});
  expect_throw<std::invalid_argument>([] { make_metric("auc", *make_loss("mse")); },
                                      {"'auc'", "accuracy", "mae"});
  expect_throw<std::invalid_argument>([] { make_metric("accuracy", *make_loss("mse")); },
                                      {"no meaning", "mse"});
  expect_throw<std::invalid_argument>([] { make_optimizer("lion"); }, {"'lion'", "adamw"});
  for (const char* text : {"sgd:", "sgd:x", "sgd:-1", "sgd:0", "sgd:0.1x"}) {
    expect_throw<std::invalid_argument>([&] { make_optimizer(text); }, {text, "number"});
  }
  expect_throw<std::invalid_argument>([] { sgd({.momentum = 1}); }, {"momentum", "[0, 1)"});
  expect_throw<std::invalid_argument>([] { sgd({.nesterov = true}); }, {"nesterov"});
  expect_throw<std::invalid_argument>([] { adam({.beta1 = 1}); }, {"beta1"});
  expect_throw<std::invalid_argument>([] { adam({.epsilon = 0}); }, {"epsilon"});
}

TEST(Schedules, AreFunctionsOfTheStep) {
  const Schedule stairs = piecewise_constant_rate({3, 5}, {1, 0.1, 0.01});
  EXPECT_EQ(stairs(0), 1);
  EXPECT_EQ(stairs(2), 1);
  EXPECT_EQ(stairs(3), 0.1);
  EXPECT_EQ(stairs(4), 0.1);
  EXPECT_EQ(stairs(5), 0.01);
  const Schedule decay = exponential_decay({.rate = 8, .factor = 0.25, .decay_steps = 2});
  EXPECT_DOUBLE_EQ(decay(1), 4);
  EXPECT_DOUBLE_EQ(decay(4), 0.5);
  const Schedule steps = exponential_decay({.rate = 8, .factor = 0.25, .decay_steps = 2, .staircase = true});
  EXPECT_DOUBLE_EQ(steps(1), 8);
  EXPECT_DOUBLE_EQ(steps(3), 2);
  expect_throw<std::invalid_argument>([] { piecewise_constant_rate({1}, {1}); },
                                      {"1 boundaries", "1 values"});
  expect_throw<std::invalid_argument>([] { piecewise_constant_rate({2, 1}, {1, 2, 3}); }, {"ascending"});
  expect_throw<std::invalid_argument>([] { exponential_decay({.decay_steps = 0}); }, {"decay_steps is 0"});
}

}  // namespace
}  // namespace mirrorscale::strategies

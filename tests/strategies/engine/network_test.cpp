#include "strategies/engine/network.h"

#include "strategies/engine/replica.h"
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

TEST(Network, AResidualNamesItsPartsAndRefusesShapesThatDoNotFit) {
  const Network network(4, {residual({dense(8, "relu"), dense(6)}, {.shortcut = {dense(6)}}),
                            residual({dense(6, "gelu")}), dense(2)});
  std::vector<std::string> parameters;
  for (const auto& slice : network.parameters().slices()) {
    if (slice.spec.rows > 0) parameters.push_back(slice.spec.name);
  }
  EXPECT_EQ(parameters, (std::vector<std::string>{"residual/dense/kernel", "residual/dense_1/kernel",
                                                  "residual/shortcut_dense/kernel", "residual_1/dense/kernel",
                                                  "dense/kernel"}));
  EXPECT_EQ(network.chain().largest_matrix(1), kernels::activation_size(1, 8));
  // The input of the first residual is nobody's output: no dx of its first layers.
  EXPECT_EQ(network.flops_per_row(), 4 * 4 * 8 + 6 * 8 * 6 + 4 * 4 * 6 + 6 * 6 * 6 + 6 * 6 * 2);
  expect_throw<std::invalid_argument>([] { Network(4, {residual({dense(5)})}); },
                                      {"'residual'", "[5]", "[4]", "shortcut"});
  expect_throw<std::invalid_argument>([] { Network(4, {residual({dense(5)}, {.shortcut = {dense(6)}})}); },
                                      {"[5]", "[6]"});
  expect_throw<std::invalid_argument>([] { residual({}); }, {"[residual]", "no layers"});
  expect_throw<std::invalid_argument>([] { residual({dense(1)}, {.activation = "softmax"}); }, {"softmax"});
}

/// The gradient arena of the sum of the outputs, over `rows` of features.
std::vector<float> gradients_of_sum(const Network& network, const std::vector<NamedArray>& weights,
                                    const std::vector<std::vector<float>>& rows) {
  Replica replica(network, "reference");
  const auto count = static_cast<int>(rows.size()), features = network.features();
  replica.reserve(count, 1);
  network.parameters().unpack(weights, {replica.weights(), network.parameters().size()});
  replica.refresh_transposed();
  const auto x = kernels::make_buffer(kernels::activation_size(count, features));
  const auto view = kernels::activation_view(kernels::Layout::kPanels, x.get(), count, features, count);
  for (int r = 0; r < count; ++r) {
    for (int c = 0; c < features; ++c) {
      view.at(r, c) = rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
    }
  }
  replica.forward(view);
  const auto t = kernels::make_buffer(kernels::activation_size(count, network.outputs()));
  const auto targets =
      kernels::activation_view(kernels::Layout::kPanels, t.get(), count, network.outputs(), count);
  // mse of one output against output - 1/2 has the gradient 1.
  for (int r = 0; r < count; ++r) targets.at(r, 0) = replica.output().at(r, 0) - 0.5F;
  replica.judge(*mean_squared_error(), {}, {.values = targets}, true);
  const GradientRoot root{0, count, replica.gradient(0)};
  replica.backward({&root, 1}, 1);
  std::vector<float> all;
  for (const NamedArray& array :
       network.parameters().pack({replica.gradient(0), network.parameters().size()})) {
    all.insert(all.end(), array.values.begin(), array.values.end());
  }
  return all;
}

TEST(Network, GradientsOfAResidualOnPaper) {
  // h = a x; y = h + b h = 6: dy/db = h, dy/da = (1 + b) x. With a shortcut c: dy/dc = h, dy/da = (b + c) x.
  const auto line = [] { return dense(1, DenseOptions{.use_bias = false}); };
  const Network plain(1, {line(), residual({line()})}),
      other(1, {line(), residual({line()}, {.shortcut = {line()}})}),
      relu(1, {line(), residual({line()}, {.activation = "relu"})});
  const auto named = [](const Network& network, const std::vector<float>& values) {
    auto arrays = network.initial_weights(1);
    for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i].values = {values.at(i)};
    return arrays;
  };
  EXPECT_EQ(gradients_of_sum(plain, named(plain, {2, 5}), {{3}}), (std::vector<float>{18, 6}));
  EXPECT_EQ(gradients_of_sum(other, named(other, {2, 5, 7}), {{3}}), (std::vector<float>{36, 6, 6}));
  EXPECT_EQ(gradients_of_sum(relu, named(relu, {2, 5}), {{3}, {-3}}), (std::vector<float>{18, 6}))
      << "the second row is cut off";
}

TEST(Network, LayersOfSequencesRefuseWhatTheyCannotTake) {
  expect_throw<std::invalid_argument>(
      [] {
        Network(4, {dense(4), embedding(3, 2)});
      },
      {"embedding", "first layer"});
  expect_throw<std::invalid_argument>([] { Network(4, {residual({embedding(3, 4)})}); }, {"first layer"});
  expect_throw<std::invalid_argument>([] { embedding(0, 2); }, {"0 tokens"});
  expect_throw<std::invalid_argument>(
      [] {
        Network(4, {embedding(3, 8), self_attention({.heads = 2})});
      },
      {"self_attention", "[4, 8]", "multiple of 6"});
  expect_throw<std::invalid_argument>([] { self_attention({.heads = 0}); }, {"heads is 0"});
  expect_throw<std::invalid_argument>([] { dropout(1); }, {"rate", "[0, 1)"});
  expect_throw<std::invalid_argument>([] { layer_norm(0); }, {"epsilon"});
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

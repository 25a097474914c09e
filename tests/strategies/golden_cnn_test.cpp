// The run cnn_sgd of tests/golden: 96 images of 10 x 10 x 3; by the oracle in double, and by the engine on 1,
// 2 and 4 devices, step by step within the oracle's bound.
#include "scenarios/oracle/sequence.h"
#include "scenarios/oracle/trainer.h"
#include "strategies/engine/convolution.h"
#include "strategies/engine/pooling.h"
#include "strategies/engine/reshape.h"
#include "strategies/input/array_dataset.h"
#include "tests/strategies/support/golden_arrays.h"
#include "tests/strategies/support/recipe.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mirrorscale::strategies {
namespace {

namespace oracle = scenarios::oracle;
using testing::GoldenArrays;
using testing::share_of_bound;

constexpr std::size_t kArrays = 6, kRows = 96, kPixels = 10 * 10 * 3, kBatch = 32, kSteps = 9;

struct GoldenCnn : GoldenArrays {
  static GoldenCnn load() { return {GoldenArrays::load("cnn_sgd", kArrays)}; }
  oracle::Batch batch(std::size_t step) const {
    return GoldenArrays::batch(step % (kRows / kBatch) * kBatch, kBatch, kPixels);
  }
};

oracle::Window square(std::size_t in, std::size_t out, std::size_t size, std::size_t stride,
                      std::size_t pad) {
  const oracle::WindowAxis axis{.in = in, .out = out, .size = size, .stride = stride, .pad = pad};
  return {axis, axis};
}

oracle::Trainer cnn_trainer(const std::vector<std::vector<double>>& start) {
  constexpr auto kRelu = oracle::Activation::kRelu;
  std::vector<oracle::LayerPtr> layers;
  layers.push_back(oracle::make_layer(oracle::Convolution{
      .window = square(10, 10, 3, 1, 1), .channels = 3, .filters = 6, .activation = kRelu}));
  layers.push_back(oracle::make_layer(oracle::Pool{.window = square(10, 5, 2, 2, 0), .channels = 6}));
  layers.push_back(oracle::make_layer(oracle::Convolution{
      .window = square(5, 2, 3, 2, 0), .channels = 6, .filters = 8, .activation = kRelu}));
  layers.push_back(oracle::make_layer(oracle::Dense{.inputs = 32, .outputs = 5}));
  // Keras keeps the momentum as a float32.
  return {std::move(layers), {.optimizer = oracle::Sgd{.rate = 0.05, .momentum = 0.9F}}, start};
}

TEST(GoldenCnn, TheOracleGivesTheLossesAndWeightsOfKeras) {
  const GoldenCnn run = GoldenCnn::load();
  ASSERT_EQ(run.x.size(), kRows * kPixels);
  ASSERT_EQ(run.loss.size(), kSteps);
  oracle::Trainer trainer = cnn_trainer(run.w0);
  for (std::size_t step = 0; step < kSteps; ++step) {
    EXPECT_NEAR(trainer.step(run.batch(step)).total().value, run.loss[step], 1e-9);
    if (step != 0 && step + 1 != kSteps) continue;
    const auto& golden = step == 0 ? run.w1 : run.wT;
    for (std::size_t a = 0; a < kArrays; ++a) {
      const auto values = trainer.weights(a).values;
      ASSERT_EQ(values.size(), golden[a].size());
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(values[i], golden[a][i], 1e-9) << "step " << step << ", array " << a << ", " << i;
    }
  }
}

testing::Recipe recipe() {
  testing::Recipe recipe;
  recipe.features = Shape(10, 10, 3);
  recipe.layers = [] {
    return std::vector<LayerPtr>{
        conv2d({.filters = 6, .kernel = 3, .padding = "same", .activation = "relu"}), max_pool(2),
        conv2d({.filters = 8, .kernel = 3, .stride = 2, .activation = "relu"}), flatten(), dense(5)};
  };
  recipe.loss = make_loss("sparse_categorical_crossentropy_from_logits");
  recipe.optimizer = [] { return sgd({.learning_rate = 0.05, .momentum = 0.9}); };
  return recipe;
}

TEST(GoldenCnn, TheEngineOnOneTwoAndFourDevices) {
  const GoldenCnn run = GoldenCnn::load();
  ArrayContents contents;
  contents.name = "cnn_sgd";
  contents.features = kPixels;
  contents.image = {10, 10, 3};
  contents.values = std::vector<float>(run.x.begin(), run.x.end());
  contents.labels = run.labels;
  const auto data = std::make_shared<ArrayDataset>(std::move(contents));
  for (const int n : {1, 2, 4}) {
    const auto model = testing::build(Mirrored(n), recipe());
    auto weights = model->weights();
    ASSERT_EQ(weights.size(), kArrays);
    std::vector<std::vector<double>> floats;
    for (std::size_t a = 0; a < kArrays; ++a) {
      weights[a].values = {run.w0[a].begin(), run.w0[a].end()};
      floats.emplace_back(weights[a].values.begin(), weights[a].values.end());
    }
    model->set_weights(weights);
    Session& session = model->session();
    session.start_training(data, kBatch);
    oracle::Trainer trainer = cnn_trainer(floats);
    const auto order = InOrder().order(kRows, 0, 0);
    for (std::size_t step = 0; step < kSteps; ++step) {
      const double loss = session.train(order, static_cast<std::int64_t>(step % 3), 1).loss();
      EXPECT_NEAR(loss, run.loss[step], 2e-5) << "step " << step << " on " << n;
      const oracle::Estimate expected = trainer.step(run.batch(step)).total();
      EXPECT_LE(std::abs(loss - expected.value), expected.bound) << "step " << step << " on " << n;
      EXPECT_LT(expected.bound, 1e-3);
      weights = session.weights();
      const auto slots = session.slots();
      for (std::size_t a = 0; a < kArrays; ++a) {
        EXPECT_LE(share_of_bound(weights[a].values, trainer.weights(a)), 1)
            << weights[a].name << ", step " << step;
        EXPECT_LE(share_of_bound(slots[a].values, trainer.slots(a, 0)), 1)
            << weights[a].name << ", step " << step;
        trainer.adopt(a, weights[a].values, slots[a].values);
      }
      if (step != 0 && step + 1 != kSteps) continue;
      const auto& golden = step == 0 ? run.w1 : run.wT;
      for (std::size_t a = 0; a < kArrays; ++a) {
        for (std::size_t i = 0; i < golden[a].size(); ++i)
          EXPECT_NEAR(static_cast<double>(weights[a].values[i]), golden[a][i], 1e-5) << a << ", " << i;
      }
    }
  }
}

}  // namespace
}  // namespace mirrorscale::strategies

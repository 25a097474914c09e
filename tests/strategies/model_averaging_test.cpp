// Training apart and averaging is another thing than mirrored training, and this is the number that tells.
#include "tests/strategies/support/bits.h"
#include "tests/strategies/support/data.h"
#include "tests/strategies/support/recipe.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using testing::build;
using testing::points;
using testing::Recipe;
using testing::same_bits;

Recipe classifier(const char* optimizer) {
  Recipe recipe;
  recipe.features = 7;
  recipe.layers = [] { return std::vector<LayerPtr>{dense(9, "tanh"), dense(3)}; };
  recipe.loss = make_loss("sparse_categorical_crossentropy_from_logits");
  recipe.optimizer = [optimizer] { return make_optimizer(optimizer); };
  recipe.metrics = {"accuracy"};
  return recipe;
}

DatasetPtr data() {
  return testing::random_data({.rows = 100, .features = 7, .classes = 3});
}

double largest_difference(const std::vector<NamedArray>& a, const std::vector<NamedArray>& b) {
  double largest = 0;
  for (std::size_t p = 0; p < a.size(); ++p) {
    for (std::size_t i = 0; i < a[p].values.size(); ++i) {
      largest = std::max(largest, static_cast<double>(std::abs(a[p].values[i] - b[p].values[i])));
    }
  }
  return largest;
}

TEST(ModelAveraging, OfAPaperCase) {
  // y = 3 x, w = 0, rate 0.01, an epoch of two batches (1, 2), (3, 4): replica 0 has x = 1, 3, replica 1 x =
  // 2, 4. Replica 0: 0 + 0.06, then + 0.02 * 9 * 2.94 = 0.5892. Replica 1: 0.24, then + 0.02 * 16 * 2.76
  // = 1.1232.
  Recipe recipe;
  recipe.layers = [] { return testing::line(0); };
  recipe.optimizer = [] { return sgd({.learning_rate = 0.01}); };
  const auto model = build(ModelAveraging(device_names(2)), recipe);
  model->fit(points({1, 2, 3, 4}, {3, 6, 9, 12}), {.global_batch = 2, .shuffle = false});
  for (int r = 0; r < 2; ++r) EXPECT_NEAR(model->session().weights(r)[0].values[0], 0.8562, 1e-6);
  // Mirrored: 0.01 * 2 * 3 * 2.5 = 0.15, then + 0.02 * 12.5 * 2.85.
  const auto mirrored = build(Mirrored(2), recipe);
  mirrored->fit(points({1, 2, 3, 4}, {3, 6, 9, 12}), {.global_batch = 2, .shuffle = false});
  EXPECT_NEAR(mirrored->weights()[0].values[0], 0.8625, 1e-6);
}

TEST(ModelAveraging, IsNotMirroredTraining) {
  for (const char* optimizer : {"sgd:0.1", "momentum:0.1", "adam:0.01"}) {
    for (const int n : {2, 3, 4}) {
      const auto averaged = build(ModelAveraging(device_names(n)), classifier(optimizer));
      const auto mirrored = build(Mirrored(n), classifier(optimizer));
      averaged->fit(data(), {.epochs = 2, .global_batch = 10});
      mirrored->fit(data(), {.epochs = 2, .global_batch = 10});
      EXPECT_GT(largest_difference(averaged->weights(), mirrored->weights()), 1e-4) << optimizer << " " << n;
      for (int r = 1; r < n; ++r) {
        EXPECT_TRUE(same_bits(averaged->session().arena(r), averaged->session().arena(0)))
            << "averaged at the end";
      }
    }
  }
}

TEST(ModelAveraging, ComesOutTheSameFromTheSameSeed) {
  const auto run = [&](std::uint64_t seed) {
    const auto model = build(ModelAveraging(device_names(3)), classifier("adam:0.01"));
    model->fit(data(), {.epochs = 2, .global_batch = 16, .seed = seed});
    return model->weight_hash();
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(ModelAveraging, GoesOnFromTheAveragedWeights) {
  // Setting the weights to what they are changes nothing: everything that is derived from them was averaged
  // too.
  const auto whole = build(ModelAveraging(device_names(3)), classifier("sgd:0.1"));
  whole->fit(data(), {.epochs = 2, .global_batch = 16});
  const auto paused = build(ModelAveraging(device_names(3)), classifier("sgd:0.1"));
  paused->fit(data(), {.epochs = 1, .global_batch = 16});
  paused->set_weights(paused->weights());
  paused->fit(data(), {.epochs = 1, .global_batch = 16, .initial_epoch = 1});
  EXPECT_TRUE(same_bits(whole->weights(), paused->weights()));
}

TEST(ModelAveraging, OfOneReplicaIsOneDevice) {
  for (const char* optimizer : {"sgd:0.1", "nesterov:0.1", "adam:0.01", "adamw:0.01"}) {
    for (const int batch : {7, 33, 100}) {
      const auto averaged = build(ModelAveraging(device_names(1)), classifier(optimizer));
      const auto one = build(OneDevice(), classifier(optimizer));
      const History a = averaged->fit(data(), {.epochs = 2, .global_batch = batch, .validation = data()});
      const History b = one->fit(data(), {.epochs = 2, .global_batch = batch, .validation = data()});
      EXPECT_TRUE(same_bits(averaged->weights(), one->weights())) << optimizer << " " << batch;
      EXPECT_TRUE(same_bits(averaged->slots(), one->slots())) << optimizer << " " << batch;
      EXPECT_EQ(a.values, b.values);
    }
  }
}

}  // namespace
}  // namespace mirrorscale::strategies

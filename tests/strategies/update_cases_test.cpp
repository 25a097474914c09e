// Training steps on the worked cases of TensorFlow's and Keras' own tests: what an update is on several
// replicas. Where theirs sums over replicas that see the same batch, ours sums over the rows of one global
// batch that holds it once a replica.
#include "tests/strategies/support/bits.h"
#include "tests/strategies/support/data.h"
#include "tests/strategies/support/offsets.h"
#include "tests/strategies/support/recipe.h"
#include "tests/strategies/support/toy_parts.h"

#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
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
using testing::points;
using testing::Recipe;
using testing::same_bits;
using testing::Values;
using testing::values_of;
using testing::with_scale;

constexpr int kCounts[] = {1, 2, 4};

Values first_of(const Session& session, int replica) {
  return session.weights(replica)[0].values;
}

void expect_near(const Values& values, float expected, double tolerance = 1e-7) {
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected, tolerance) << "element " << i;
}

TEST(Sgd, AddsTheGradientsOfAllReplicas) {
  Recipe recipe = offsets({0, 0});
  recipe.optimizer = [] { return sgd({.learning_rate = 0.1}); };
  for (const std::string& reducer : testing::exact_reducers()) {
    const auto model = build(Mirrored(2, with_scale(1, reducer)), recipe);
    model->fit(gradients(2, {1, 1, 2, 2}), in_order(2));
    for (int r = 0; r < 2; ++r) {
      expect_near(first_of(model->session(), r), -0.3F);
    }
  }
  const auto one = build(OneDevice(with_scale(1)), recipe);
  one->fit(gradients(2, {1, 1}), in_order(1));
  expect_near(first(*one), -0.1F);
}

TEST(Sgd, WithoutAggregationReplicasPart) {
  Recipe recipe = offsets({0, 0});
  recipe.optimizer = [] { return sgd({.learning_rate = 0.1}); };
  const auto model = build(ModelAveraging(device_names(2), with_scale(1)), recipe);
  Session& session = model->session();
  session.start_training(gradients(2, {1, 1, 2, 2}), 2);
  session.train(std::vector<std::int64_t>{0, 1}, 0, 1);
  expect_near(first_of(session, 0), -0.1F);
  expect_near(first_of(session, 1), -0.2F);
  session.average_weights();
  for (int r = 0; r < 2; ++r) {
    expect_near(first_of(session, r), -0.15F);
  }
}

TEST(Penalty, CountsOnceWhateverTheReplicas) {
  for (const int n : kCounts) {  // out = x + v, loss mean(out) + |v|: the gradient of v is 1 + 1
    Recipe recipe;
    recipe.layers = [] {
      return std::vector<LayerPtr>{dense(1, DenseOptions{.kernel_initializer = {Initializer::Kind::kOnes, 0},
                                                         .bias_initializer = {Initializer::Kind::kOnes, 0},
                                                         .bias_penalty = {.l1 = 1}})};
    };
    recipe.loss = std::make_shared<LinearLoss>();
    recipe.optimizer = [] { return sgd({.learning_rate = 1}); };
    const auto model = build(Mirrored(n), recipe);
    const History history = model->fit(points({1, 1}, {1, 1}), in_order(2));
    EXPECT_EQ(values_of(model->weights(), "dense/bias"), Values{-1}) << n;
    EXPECT_EQ(history.values.at("loss"), std::vector<double>{2 + 1}) << n;
  }
}

TEST(MeanLoss, DoesNotGrowWithTheReplicas) {
  for (const int n : kCounts) {
    Values x, y;
    for (int r = 0; r < n; ++r) {
      x.insert(x.end(), {2, 7});
      y.insert(y.end(), {6, 21});
    }
    Recipe recipe;
    recipe.layers = [] { return testing::line(2); };
    recipe.optimizer = [] { return sgd({.learning_rate = 0.001}); };
    const auto mean = build(Mirrored(n), recipe);
    mean->fit(points(x, y), in_order(2 * n));
    EXPECT_NEAR(first(*mean)[0], 2.053, 1e-4) << n;
    // The reduction by sums is another choice, and is seen.
    const auto sum = build(Mirrored(n, with_scale(1)), recipe);
    sum->fit(points(x, y), in_order(2 * n));
    EXPECT_NEAR(first(*sum)[0], 2 + 0.106 * n, 1e-4) << n;
  }
}

TEST(UserOptimizer, MayReplaceTheGradient) {
  for (const int n : kCounts) {
    for (const std::string& reducer : testing::exact_reducers()) {
      Recipe recipe;
      recipe.layers = [] { return testing::line(1, true, -1); };
      recipe.optimizer = [] { return std::make_shared<testing::ForcedOnes>(1); };
      const auto model = build(Mirrored(n, testing::with_reducer(reducer)), recipe);
      model->fit(points({1, 2, 3, 4}, {9, 9, 9, 9}), in_order(4));
      EXPECT_EQ(values_of(model->weights(), "dense/kernel"), Values{0}) << n << reducer;
      EXPECT_EQ(values_of(model->weights(), "dense/bias"), Values{-2}) << n << reducer;
    }
  }
}

TEST(Momentum, IsFedTheSum) {
  const Values start = {1, 2, 3, 4}, g = {1, 6, 7, 2};
  Recipe recipe = offsets(start);
  recipe.optimizer = [] { return sgd({.learning_rate = 0.5, .momentum = 0.06}); };
  const auto model = build(Mirrored(2, with_scale(1)), recipe);
  model->set_weights({{"offset/v", {4}, start}});
  model->fit(gradients(4, {1, 6, 7, 2, 1, 6, 7, 2}), in_order(2));
  const Values expected = {0, -4, -4, 2};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(first(*model)[i], expected[i], 1e-4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(values_of(model->slots(), "offset/v/momentum")[i], -g[i]);  // -0.5 (g + g)
  }
}

TEST(Accumulation, IsTheSumOfTheMicroBatchesOverTheirNumber) {
  // Three micro-batches on each of two replicas, the gradients averaged over the three and summed over the
  // two: one batch of six rows, its sum times 1/3.
  Values rows;
  for (int i = 0; i < 6; ++i) rows.insert(rows.end(), {1, 1, 2, 2});
  for (const int n : {1, 2}) {
    for (const int pieces : {1, 3}) {
      Recipe recipe = offsets({1, 2, 3, 4});
      recipe.optimizer = [] { return sgd({.learning_rate = 1}); };
      const auto model = build(Mirrored(n, with_scale(1.0F / 3)), recipe);
      model->set_weights({{"offset/v", {4}, {1, 2, 3, 4}}});
      FitOptions options = in_order(6);
      options.accumulate = pieces;
      model->fit(gradients(4, rows), options);
      EXPECT_EQ(first(*model), (Values{-1, 0, -1, 0})) << n;
      EXPECT_EQ(model->steps(), 1);
    }
  }
}

TEST(Accumulation, AShortLastWindowIsTheMeanOverItsOwnRows) {
  // Gradients 1 .. 7 in steps of 4 rows, two pieces each: means 2.5, and 6 of three rows. A mean of the
  // pieces' means would be (5.5 + 7) / 2 = 6.25, a window counted as full 18 / 4 = 4.5.
  for (const int n : kCounts) {
    Recipe recipe = offsets({0});
    recipe.optimizer = [] { return sgd({.learning_rate = 1}); };
    const auto model = build(Mirrored(n), recipe);
    FitOptions options = in_order(4);
    options.accumulate = 2;
    model->fit(gradients(1, {1, 2, 3, 4, 5, 6, 7}), options);
    EXPECT_EQ(first(*model), Values{-8.5F}) << n;
    EXPECT_NE(first(*model), Values{-8.75F}) << n;
    EXPECT_NE(first(*model), Values{-7.0F}) << n;
  }
}

/// Weights after one step of rate 1 from 0 with these gradients in each row, one row a replica.
Values clipped(int n, const std::string& reducer, const Clipping& clipping, const Values& gradient,
               float scale) {
  const int columns = static_cast<int>(gradient.size());
  Recipe recipe = offsets(Values(gradient.size()));
  recipe.layers = [] {  // both parameters get the gradient
    return std::vector<LayerPtr>{std::make_shared<Offset>(0.0F, true), std::make_shared<Offset>(0.0F, true)};
  };
  recipe.optimizer = [&] {
    const auto made = sgd({.learning_rate = 1});
    made->set_clipping(clipping);
    return made;
  };
  Values rows;
  for (int r = 0; r < n; ++r) rows.insert(rows.end(), gradient.begin(), gradient.end());
  const auto model = build(Mirrored(n, with_scale(scale, reducer)), recipe);
  model->fit(gradients(columns, rows), in_order(n));
  return first(*model);
}

TEST(Clipping, ActsOnTheReducedGradient) {
  using Kind = Clipping::Kind;
  for (const int n : kCounts) {
    for (const std::string& reducer : testing::exact_reducers()) {
      SCOPED_TRACE(reducer + " " + std::to_string(n));
      // The sum over replicas is n (100, 100); clipped before, it would be n times as long afterwards.
      expect_near(clipped(n, reducer, {Kind::kNorm, 1}, {100, 100}, 1), -0.70711F, 1e-5);
      expect_near(clipped(n, reducer, {Kind::kValue, 1}, {100, 100}, 1), -1);
      // Two parameters of gradient (3, 4): their joint norm is 7.0711.
      const float mean = 1.0F / static_cast<float>(n);
      const Values together = clipped(n, reducer, {Kind::kGlobalNorm, 1}, {3, 4}, mean);
      EXPECT_NEAR(together[0], -0.424264F, 1e-6);
      EXPECT_NEAR(together[1], -0.565685F, 1e-6);
      const Values alone = clipped(n, reducer, {Kind::kNorm, 1}, {3, 4}, mean);
      EXPECT_NEAR(alone[0], -0.6F, 1e-6);
      EXPECT_NEAR(alone[1], -0.8F, 1e-6);
      EXPECT_EQ(clipped(n, reducer, {Kind::kGlobalNorm, 8}, {3, 4}, mean), (Values{-3, -4}))
          << "within the limit";
    }
  }
}

TEST(WeightDecay, ComesOnceAStepAndSparesWhatIsExcluded) {
  for (const int n : kCounts) {
    for (const std::string& reducer : testing::exact_reducers()) {
      Recipe recipe;
      recipe.layers = [] {
        return std::vector<LayerPtr>{std::make_shared<Offset>(2.0F, true),
                                     std::make_shared<Offset>(3.0F, false)};
      };
      recipe.loss = std::make_shared<LinearLoss>();
      recipe.optimizer = [] { return adamw({.learning_rate = 1, .weight_decay = 0.004}); };
      const auto model = build(Mirrored(n, testing::with_reducer(reducer)), recipe);
      model->fit(gradients(1, {0, 0, 0, 0}), in_order(4, 3));
      EXPECT_NEAR(values_of(model->weights(), "offset/v")[0], 1.9760959F, 1e-6) << n << reducer;
      EXPECT_EQ(values_of(model->weights(), "offset_1/v")[0], 3) << n << reducer;
    }
  }
}

TEST(Ones, DenseOnOnes) {
  for (const int n : kCounts) {
    Recipe recipe;
    recipe.features = 10;
    recipe.layers = [] {
      return std::vector<LayerPtr>{dense(1, DenseOptions{.kernel_initializer = {Initializer::Kind::kOnes, 0},
                                                         .bias_initializer = {Initializer::Kind::kOnes, 0}})};
    };
    recipe.loss = std::make_shared<LinearLoss>();
    recipe.optimizer = [] { return sgd({.learning_rate = 0.25}); };
    const auto data = given_data(10, Values(20, 1), 1, {1, 1});
    const auto sum = build(Mirrored(n, with_scale(1)), recipe);
    sum->fit(data, in_order(2));
    const auto mean = build(Mirrored(n), recipe);
    mean->fit(data, in_order(2));
    for (const auto& array : sum->weights()) EXPECT_EQ(array.values, Values(array.values.size(), 0.5F));
    for (const auto& array : mean->weights()) EXPECT_EQ(array.values, Values(array.values.size(), 0.75F));
  }
}

TEST(ShortBatch, IsTheMeanOverItsOwnRows) {
  for (const int n : {1, 2, 3, 4}) {
    Recipe recipe;
    recipe.layers = [] { return testing::line(0); };
    recipe.optimizer = [] { return sgd({.learning_rate = 0.01}); };
    const auto after = [&](int rows) {
      Values x(static_cast<std::size_t>(rows)), y;
      std::iota(x.begin(), x.end(), 1.0F);
      for (const float v : x) y.push_back(3 * v);
      const auto model = build(Mirrored(n), recipe);
      model->fit(points(x, y), in_order(4));
      return first(*model)[0];
    };
    EXPECT_NEAR(after(4), 0.45, 1e-6) << n;
    EXPECT_NEAR(after(7), 2.32, 1e-6) << n;   // not 2.47725 (means of means), not 1.8525 (constant G)
    EXPECT_NEAR(after(5), 1.725, 1e-6) << n;  // one row: with n > 1 some replicas are empty
  }
}

TEST(ShortBatch, SampleWeightsDivideByTheirSum) {
  // Gradients -6 x² of w = 0 weighted 1, 3: (-6 - 3 * 24) / 4.
  for (const int n : kCounts) {
    Recipe recipe;
    recipe.layers = [] { return testing::line(0); };
    recipe.optimizer = [] { return sgd({.learning_rate = 1}); };
    const auto model = build(Mirrored(n), recipe);
    const History history = model->fit(points({1, 2}, {3, 6}, {1, 3}), in_order(2));
    EXPECT_EQ(first(*model)[0], (6 + 3 * 24) / 4.0F) << n;
    EXPECT_EQ(history.values.at("loss")[0], (9 + 3 * 36) / 4.0) << n;
  }
}

TEST(ShortBatch, OfWeightsThatAreAllZeroChangesNothing) {
  Recipe recipe;
  recipe.layers = [] { return testing::line(0.5F); };
  const auto model = build(Mirrored(2), recipe);
  const History history = model->fit(points({1, 2}, {3, 6}, {0, 0}), in_order(2));
  EXPECT_EQ(first(*model)[0], 0.5F);
  EXPECT_EQ(history.values.at("loss")[0], 0);
}

TEST(InitialWeights, AreTheSameOnAllReplicasAndAtAnyCount) {
  Recipe recipe;
  recipe.features = 7;
  recipe.layers = [] { return std::vector<LayerPtr>{dense(5, "relu"), dense(3)}; };
  recipe.seed = 42;
  const auto one = build(OneDevice(), recipe)->weights();
  for (const int n : {2, 3, 8}) {
    const auto model = build(Mirrored(n), recipe);
    for (int r = 0; r < n; ++r) EXPECT_TRUE(same_bits(model->session().weights(r), one)) << r << " of " << n;
  }
  EXPECT_NE(values_of(one, "dense/kernel"), Values(35)) << "they are not all 0";
}

}  // namespace
}  // namespace mirrorscale::strategies

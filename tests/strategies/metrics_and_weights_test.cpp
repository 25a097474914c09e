// Metrics of counts on the worked examples of Keras' own documentation and tests, and that replicas, batches
// and steps change none of their bits.
#include "strategies/engine/count_metric.h"
#include "tests/strategies/support/data.h"
#include "tests/strategies/support/expect_throw.h"
#include "tests/strategies/support/recipe.h"

#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using testing::expect_throw;
using testing::points;

/// A model whose prediction is its input.
std::unique_ptr<Model> identity(const Strategy& strategy, const std::vector<std::string>& metrics,
                                const std::string& loss = "binary_crossentropy") {
  const Scope scope = strategy.scope();
  auto model = std::make_unique<Model>(1, testing::line(1));
  model->compile("sgd", loss, metrics);
  return model;
}

/// A metric of `y` [rows, columns], row-major, at most 16 columns wide.
double value_of(const CountMetric& metric, int columns, const std::vector<float>& y,
                const std::vector<int>& labels, const std::vector<float>& weights = {}) {
  const auto rows = static_cast<int>(labels.size());
  std::vector<float> room(kernels::activation_size(rows, columns));
  const kernels::Matrix m =
      kernels::activation_view(kernels::Layout::kPanels, room.data(), rows, columns, rows);
  for (std::size_t i = 0; i < y.size(); ++i)
    m.at(static_cast<int>(i) / columns, static_cast<int>(i) % columns) = y[i];
  std::vector<std::int64_t> cells(metric.cells(columns));
  metric.count(m, {labels.data(), {}, weights.empty() ? nullptr : weights.data()}, cells);
  return metric.value(cells).value();
}

TEST(CountMetrics, PrecisionAndRecallOfKeras) {
  for (const int n : {1, 2, 4}) {
    std::vector<float> x, y, w;
    for (int r = 0; r < n; ++r) {
      x.insert(x.end(), {1, 0, 1, 1});
      y.insert(y.end(), {0, 1, 1, 1});
      w.insert(w.end(), {0, 0, 1, 0});
    }
    const auto model = identity(Mirrored(n), {"precision", "recall"});
    const Logs logs = model->evaluate(points(x, y), {.global_batch = 4 * n});
    EXPECT_EQ(logs.at("precision"), 2.0 / 3);
    EXPECT_EQ(logs.at("recall"), 2.0 / 3);
    const Logs weighted = model->evaluate(points(x, y, w), {.global_batch = 4 * n});
    EXPECT_EQ(weighted.at("precision"), 1);
    EXPECT_EQ(weighted.at("recall"), 1);
    // Batches with other numbers of positives: a mean of their ratios is (2/3 + 1) / 2.
    x.insert(x.end(), {1, 0, 0, 0});
    y.insert(y.end(), {1, 0, 0, 0});
    const Logs pooled = model->evaluate(points(x, y), {.global_batch = 4});
    EXPECT_EQ(pooled.at("precision"), (2.0 * n + 1) / (3 * n + 1));
    EXPECT_NE(pooled.at("precision"), (2.0 / 3 * n + 1) / (n + 1));
  }
}

TEST(CountMetrics, TheAreaUnderTheRocOfKeras) {
  for (const int n : {1, 2, 4}) {
    const std::vector<float> x{0, 0.5F, 0.3F, 0.9F}, y{0, 0, 1, 1};
    const auto model = identity(Mirrored(n), {"auc", "auc=3"});
    for (const int batch : {1, 4}) {
      const Logs logs = model->evaluate(points(x, y), {.global_batch = batch});
      EXPECT_EQ(logs.at("auc=3"), 0.75);
      EXPECT_EQ(logs.at("auc"), 0.75);  // 3 of 4 pairs are in order
      EXPECT_EQ(model->evaluate(points(x, y, {1, 0, 0, 1}), {.global_batch = batch}).at("auc=3"), 1);
    }
  }
}

TEST(CountMetrics, AProbabilityAtAThresholdIsNotAboveIt) {
  // Thresholds of auc=3: below 0, 0.5, above 1. 0.5 isn't above 0.5, nor is 1 above the last.
  const auto model = identity(Mirrored(1), {"auc=3", "precision"});
  const Logs logs = model->evaluate(points({0.5F, 1}, {0, 1}), {});
  EXPECT_EQ(logs.at("auc=3"), 1);
  EXPECT_EQ(logs.at("precision"), 1);
  EXPECT_EQ(model->evaluate(points({1, 0.5F}, {0, 1}), {}).at("auc=3"), 0);
  EXPECT_EQ(model->evaluate(points({0.3F, 0.5F}, {0, 1}), {}).at("auc=3"), 0.5);  // no threshold between
}

TEST(CountMetrics, TopKOfKeras) {
  const LossPtr loss = make_loss("sparse_categorical_crossentropy");
  const std::vector<float> y{0.1F, 0.9F, 0.8F, 0.05F, 0.95F, 0};
  const auto first = make_count_metric("top_k=1", *loss), second = make_count_metric("top_k=2", *loss);
  EXPECT_EQ(value_of(*first, 3, y, {2, 1}), 0.5);
  EXPECT_NEAR(value_of(*first, 3, y, {2, 1}, {0.7F, 0.3F}), 0.3, 1e-7);
  EXPECT_EQ(value_of(*second, 3, y, {2, 1}), 1);
  EXPECT_EQ(value_of(*second, 3, y, {0, 2}), 0);
  // Equal scores all count, as in TensorFlow; a NaN at the label never does.
  EXPECT_EQ(value_of(*first, 3, {1, 1, 0}, {1}), 1);
  EXPECT_EQ(value_of(*first, 3, {1, NAN, 0}, {1}), 0);
  EXPECT_EQ(value_of(*first, 3, {NAN, 1, 0}, {1}), 1);
}

TEST(CountMetrics, LogitsAreMadeProbabilities) {
  const LossPtr loss = make_loss("sparse_categorical_crossentropy_from_logits");
  // Softmax: {0.67, 0.24, 0.09} and {0.45, 0.45, 0.1}: only the first row says anything above 0.5.
  const std::vector<float> y{2, 1, 0, 1.5F, 1.5F, 0};
  EXPECT_EQ(value_of(*make_count_metric("precision", *loss), 3, y, {0, 0}), 1);
  EXPECT_EQ(value_of(*make_count_metric("recall", *loss), 3, y, {0, 0}), 0.5);
  EXPECT_EQ(value_of(*make_count_metric("precision=0.4", *loss), 3, y, {0, 0}), 2.0 / 3);
  const auto model = identity(Mirrored(2), {"recall", "auc"}, "binary_crossentropy_from_logits");
  const Logs logs = model->evaluate(points({-3, 0.5F, 2}, {0, 1, 1}), {});
  EXPECT_EQ(logs.at("recall"), 1);
  EXPECT_EQ(logs.at("auc"), 1);
}

const std::vector<std::string> kAll = {"accuracy", "top_k=2", "precision", "recall", "auc", "confusion"};

std::unique_ptr<Model> classifier(const Strategy& strategy) {
  const Scope scope = strategy.scope();
  auto model = std::make_unique<Model>(7, std::vector<LayerPtr>{dense(9, "relu"), dense(5)});
  model->compile("sgd:0.1", "sparse_categorical_crossentropy_from_logits", kAll);
  return model;
}

TEST(CountMetrics, ReplicasAndBatchesChangeNoBit) {
  const auto data =
      testing::random_data({.rows = 70, .features = 7, .classes = 5, .weighted = true, .seed = 3});
  const auto one = classifier(Mirrored(1));
  const History history = one->fit(data, {.epochs = 2, .global_batch = 16, .validation = data});
  const Logs logs = one->evaluate(data, {});
  const CountTable table = one->evaluation_tables().at("confusion"),
                   of_training = one->training_tables().at("confusion");
  EXPECT_GT(logs.at("auc"), 0.5);
  EXPECT_LT(logs.at("auc"), 1);
  EXPECT_GT(history.values.at("val_top_2_accuracy")[1], history.values.at("val_accuracy")[1]);
  for (const int n : {2, 3, 8}) {
    const auto some = classifier(Mirrored(n));
    EXPECT_EQ(
        some->fit(data, {.epochs = 2, .global_batch = 16, .accumulate = n == 2 ? 2 : 1, .validation = data})
            .values,
        history.values)
        << n;
    EXPECT_EQ(some->training_tables().at("confusion").values, of_training.values) << n;
    for (const int batch : {1, 7, 70}) {
      EXPECT_EQ(some->evaluate(data, {.global_batch = batch}), logs) << n << ", " << batch;
      EXPECT_EQ(some->evaluation_tables().at("confusion").values, table.values) << n << ", " << batch;
    }
  }
}

TEST(CountMetrics, TheConfusionMatrixHoldsEveryRow) {
  const auto model = identity(Mirrored(2), {"confusion"});
  model->evaluate(points({0.9F, 0.1F, 0.8F, 0.2F, 0.7F}, {1, 1, 0, 0, 1}), {});
  const CountTable table = model->evaluation_tables().at("confusion");
  EXPECT_EQ(table.rows, 2);
  EXPECT_EQ(table.columns, 2);
  EXPECT_EQ(table.values, (std::vector<double>{1, 1, 1, 2}));  // 0: right, wrong; 1: wrong, right
}

TEST(CountMetrics, WhatTheyCantMeasureIsRefused) {
  const Mirrored strategy(2);
  expect_throw<std::invalid_argument>([&] { identity(strategy, {"top_k=0"}); }, {"whole number"});
  expect_throw<std::invalid_argument>([&] { identity(strategy, {"precision=2"}); }, {"0 to 1"});
  expect_throw<std::invalid_argument>([&] { identity(strategy, {"f1"}); }, {"precision, recall, auc"});
  const auto labels = identity(strategy, {"top_k"});
  expect_throw<std::invalid_argument>([&] { labels->evaluate(points({1}, {1}), {}); }, {"class labels"});
  const Scope scope = strategy.scope();
  Model small(7, std::vector<LayerPtr>{dense(3)});
  small.compile("sgd", "sparse_categorical_crossentropy_from_logits", {"top_k"});
  expect_throw<std::invalid_argument>(
      [&] { small.evaluate(testing::random_data({.rows = 4, .features = 7, .classes = 3}), {}); },
      {"top_k=5 of a model with 3 outputs"});
  const auto wide = identity(strategy, {"auc"}, "mse");
  expect_throw<std::runtime_error>([&] { wide->evaluate(points({1.5F}, {1}), {}); },
                                   {"probabilities from 0 to 1"});
}

/// y = w x from w = 0 by one step at rate 1, in one batch.
float one_step(const Strategy& strategy, const LossPtr& loss, const DatasetPtr& data, FitOptions fit) {
  testing::Recipe recipe;
  recipe.layers = [] { return testing::line(0); };
  recipe.loss = loss;
  recipe.optimizer = [] { return sgd({.learning_rate = 1}); };
  const auto model = testing::build(strategy, recipe);
  fit.global_batch = static_cast<int>(data->rows());
  fit.shuffle = false;
  model->fit(data, fit);
  return model->weights()[0].values[0];
}

TEST(ClassWeights, WeighRowsAndTheMeanIsOverTheWeight) {
  const LossPtr loss = make_loss("binary_crossentropy_from_logits");
  const auto data = points({1, 1, 2}, {0, 1, 1});
  for (const int n : {1, 2, 4}) {
    const float w = one_step(Mirrored(n), loss, data, {.class_weight = {{0, 1.0F}, {1, 2.5F}}});
    EXPECT_NEAR(w, 3.25 / 6, 1e-7) << n;  // gradients 0.5, -0.5 * 2.5 and -1 * 2.5
    EXPECT_GT(std::fabs(w - 3.25 / 3), 0.1) << "Keras divides by the rows";
    EXPECT_GT(std::fabs(w - (0.75 / 3.5 + 1) / 2), 0.01) << "a mean of two replicas' means";
    EXPECT_GT(std::fabs(w - 1.0 / 3), 0.1) << "without weights";
    EXPECT_EQ(w, one_step(Mirrored(n), loss, points({1, 1, 2}, {0, 1, 1}, {1, 2.5F, 2.5F}), {})) << n;
    // Times a row's own weight; a class that isn't named has 1; with one class per column the largest is
    // meant.
    EXPECT_EQ(one_step(Mirrored(n), loss, points({1, 1, 2}, {0, 1, 1}, {1, 2, 0.5F}),
                       {.class_weight = {{1, 2.0F}}}),
              one_step(Mirrored(n), loss, points({1, 1, 2}, {0, 1, 1}, {1, 4, 1}), {}));
  }
}

TEST(ClassWeights, WhatIsNoClassIsRefused) {
  const auto labels = testing::random_data({.rows = 9, .features = 1, .classes = 3});
  EXPECT_THROW(with_class_weights(labels, {{3, 1.0F}}), std::invalid_argument);
  EXPECT_THROW(with_class_weights(labels, {{0, -1.0F}}), std::invalid_argument);
  EXPECT_THROW(with_class_weights(points({1}, {0.5F}), {{0, 1.0F}}), std::invalid_argument);
  EXPECT_THROW(parse_class_weights(std::vector<std::string>{"0=1", "0=2"}), std::invalid_argument);
  EXPECT_THROW(parse_class_weights(std::vector<std::string>{"0"}), std::invalid_argument);
  const auto of_columns = with_class_weights(testing::given_data(1, {0, 0}, 2, {1, 0, 0, 1}), {{1, 3.0F}});
  float weights[2];
  of_columns->copy_weights(std::vector<std::int64_t>{1, 0}, weights);
  EXPECT_EQ(weights[0], 3);
  EXPECT_EQ(weights[1], 1);
}

TEST(LabelSmoothing, IsThatOfKeras) {
  const auto data = points({1, 1, 2}, {0, 1, 1});
  for (const int n : {1, 2, 4}) {
    // Targets 0.1, 0.9, 0.9: gradients 0.4, -0.4 and -0.8.
    const float w =
        one_step(Mirrored(n), make_loss("binary_crossentropy_from_logits:label_smoothing=0.2"), data, {});
    EXPECT_NEAR(w, 0.8 / 3, 1e-7) << n;
    EXPECT_GT(std::fabs(w - 1.0 / 3), 0.01) << "without smoothing";
    EXPECT_GT(std::fabs(w - 0.6 / 3), 0.01) << "smoothed by s, not by s / 2";
  }
}

TEST(LabelSmoothing, SpreadsOverAllClasses) {
  for (const int n : {1, 2, 4}) {
    testing::Recipe recipe;
    recipe.layers = [] {
      return std::vector<LayerPtr>{
          dense(3, DenseOptions{.use_bias = false, .kernel_initializer = {Initializer::Kind::kConstant, 0}})};
    };
    recipe.loss = sparse_categorical_crossentropy(Prediction::kLogits, 0.3);
    recipe.optimizer = [] { return sgd({.learning_rate = 1}); };
    const auto model = testing::build(Mirrored(n), recipe);
    ArrayContents contents;
    contents.name = "one";
    contents.features = 1;
    contents.values = std::vector<float>{1};
    contents.labels = {1};
    contents.classes = 3;
    model->fit(std::make_shared<ArrayDataset>(std::move(contents)), {.global_batch = 1});
    const std::vector<float> w = model->weights()[0].values;
    EXPECT_NEAR(w[0], 0.1 - 1.0 / 3, 1e-7);
    EXPECT_NEAR(w[1], 0.8 - 1.0 / 3, 1e-7);
    EXPECT_GT(std::fabs(w[0] - (0.15 - 1.0 / 3)), 0.01) << "spread over the other classes alone";
  }
}

TEST(LabelSmoothing, OutOfRangeIsRefused) {
  EXPECT_THROW(make_loss("binary_crossentropy:label_smoothing=1"), std::invalid_argument);
  EXPECT_THROW(make_loss("binary_crossentropy:label_smoothing=-0.1"), std::invalid_argument);
  EXPECT_THROW(make_loss("binary_crossentropy:label_smoothing="), std::invalid_argument);
  EXPECT_THROW(make_loss("mse:label_smoothing=0.1"), std::invalid_argument);
  EXPECT_EQ(make_loss("binary_crossentropy:label_smoothing=0.10")->name(),
            "binary_crossentropy:label_smoothing=0.1");
  EXPECT_EQ(make_loss("binary_crossentropy:label_smoothing=0")->name(), "binary_crossentropy");
}

}  // namespace
}  // namespace mirrorscale::strategies

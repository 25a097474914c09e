// Whole training runs of Keras on TensorFlow in float64 (tests/golden), trained by the engine on 1, 2 and 3
// devices. The bound on losses, weights and slots is the oracle's running bound on a float32 run, plus what
// Keras' own rounding of some settings to float32 moves in float64 (the engine does not copy that).
#include "strategies/loss_normaliser.h"
#include "tests/scenarios/oracle/golden_oracle.h"
#include "tests/strategies/support/data.h"
#include "tests/strategies/support/recipe.h"
#include "tests/strategies/support/toy_parts.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using tests::golden_batch;
using tests::golden_trainer;
using tests::GoldenRun;
namespace oracle = scenarios::oracle;

constexpr const char* kRuns[] = {"mlp_sgd",        "mlp_nesterov",      "mlp_adam",    "mlp_adamw",
                                 "mlp_short_last", "regression_mse_l2", "mlp_adagrad", "mlp_clip_global"};

std::vector<float> rounded(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

DatasetPtr data_of(const GoldenRun& run) {
  ArrayContents contents;
  contents.name = run.name;
  contents.features = static_cast<int>(run.layers.front().inputs);
  contents.values = rounded(run.x);
  contents.labels = run.labels;
  contents.targets = rounded(run.targets);
  contents.target_columns = run.targets.empty() ? 0 : static_cast<int>(run.layers.back().outputs);
  return std::make_shared<ArrayDataset>(std::move(contents));
}

testing::Recipe recipe_of(const GoldenRun& run) {
  testing::Recipe recipe;
  recipe.features = static_cast<int>(run.layers.front().inputs);
  recipe.layers = [&run] {
    std::vector<LayerPtr> layers;
    for (const auto& l : run.layers) {
      layers.push_back(dense(
          static_cast<int>(l.outputs),
          DenseOptions{.activation = l.activation, .kernel_penalty = {.l2 = static_cast<float>(l.l2)}}));
    }
    return layers;
  };
  recipe.loss = make_loss(run.targets.empty() ? "sparse_categorical_crossentropy_from_logits" : "mse");
  recipe.optimizer = [o = run.optimizer]() -> OptimizerPtr {
    if (o.name == "sgd") {
      const auto made = sgd({.learning_rate = o.rate, .momentum = o.momentum, .nesterov = o.nesterov});
      if (o.global_clip_norm > 0) made->set_clipping({Clipping::Kind::kGlobalNorm, o.global_clip_norm});
      return made;
    }
    if (o.name == "adagrad")
      return adagrad({.learning_rate = o.rate, .initial = o.initial_accumulator, .epsilon = o.epsilon});
    return adam({.learning_rate = o.rate,
                 .beta1 = o.beta1,
                 .beta2 = o.beta2,
                 .epsilon = o.epsilon,
                 .weight_decay = o.weight_decay});
  };
  return recipe;
}

using Arrays = std::vector<std::vector<float>>;

Arrays values_of(const std::vector<NamedArray>& arrays) {
  Arrays values;
  for (const NamedArray& array : arrays) values.push_back(array.values);
  return values;
}

/// What the engine shows after each step.
struct Step {
  double loss = 0;
  Arrays weights, slots;  // slots: all arrays of the first one, then of the second
};

std::vector<Step> train(const GoldenRun& run, const testing::Recipe& recipe, const Strategy& strategy) {
  const auto model = testing::build(strategy, recipe);
  auto start = model->weights();
  for (std::size_t a = 0; a < start.size(); ++a) start[a].values = rounded(run.w0[a]);
  model->set_weights(start);
  Session& session = model->session();
  session.start_training(data_of(run), static_cast<int>(run.batch));
  const auto order = InOrder().order(static_cast<std::int64_t>(run.rows), 0, 0);
  const auto batches = static_cast<std::int64_t>((run.rows + run.batch - 1) / run.batch);
  std::vector<Step> steps;
  for (std::size_t epoch = 0; epoch < run.epochs; ++epoch) {
    for (std::int64_t i = 0; i < batches; ++i) {
      const double loss = session.train(order, i, 1).loss();
      steps.push_back({loss, values_of(session.weights()), values_of(session.slots())});
    }
  }
  return steps;
}

std::vector<Step> train(const GoldenRun& run, const Strategy& strategy) {
  return train(run, recipe_of(run), strategy);
}

/// Largest differences over their bounds; at most 1 is good. And the largest bounds, that of losses as a
/// share of them.
struct Judgement {
  double losses = 0, weights = 0, slots = 0;
  double loss_bound = 0, weight_bound = 0;
};

double share(double difference, double bound) {
  return difference == 0 ? 0 : std::abs(difference) / bound;
}

void judge(const std::vector<float>& actual, const std::vector<double>& expected,
           const std::vector<double>& bounds, double& largest_share, double& largest_bound) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    largest_share = std::max(largest_share, share(static_cast<double>(actual[i]) - expected[i], bounds[i]));
    largest_bound = std::max(largest_bound, bounds[i]);
  }
}

std::vector<double> moved(std::vector<double> bounds, const std::vector<double>& a,
                          const std::vector<double>& b) {
  for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] += std::abs(a[i] - b[i]);
  return bounds;
}

/// Without the float32 rounding of Adam's bias correction.
GoldenRun as_engine(GoldenRun run) {
  run.optimizer.correction_beta1 = run.optimizer.correction_beta2 = 0;
  return run;
}

Judgement judge_by_keras(const GoldenRun& run, const std::vector<Step>& steps) {
  oracle::Trainer trainer = golden_trainer(as_engine(run), {.rounds_inputs = true, .rounds_weights = true});
  Judgement j;
  std::size_t s = 0;
  for (std::size_t epoch = 0; epoch < run.epochs; ++epoch) {
    for (std::size_t first = 0; first < run.rows; first += run.batch, ++s) {
      const oracle::Estimate loss = trainer.step(golden_batch(run, first)).total();
      const double bound = loss.bound + std::abs(loss.value - run.loss[s]);
      j.losses = std::max(j.losses, share(steps[s].loss - run.loss[s], bound));
      j.loss_bound = std::max(j.loss_bound, bound / std::abs(run.loss[s]));
      if (s != 0 && s + 1 != run.loss.size()) continue;  // the files have the first and the last weights
      const auto& golden = s == 0 ? run.w1 : run.wT;
      for (std::size_t a = 0; a < golden.size(); ++a) {
        const oracle::Estimates w = trainer.weights(a);
        judge(steps[s].weights[a], golden[a], moved(w.bounds, w.values, golden[a]), j.weights,
              j.weight_bound);
      }
    }
  }
  return j;
}

Judgement judge_step_by_step(const GoldenRun& golden, const std::vector<Step>& steps) {
  GoldenRun run = as_engine(golden);
  const auto to_float = [](std::vector<double>& values) {
    for (double& v : values) v = static_cast<double>(static_cast<float>(v));
  };
  to_float(run.x);
  to_float(run.targets);
  for (auto& w : run.w0) to_float(w);
  oracle::Trainer trainer = golden_trainer(run);
  Judgement j;
  std::size_t s = 0;
  for (std::size_t epoch = 0; epoch < run.epochs; ++epoch) {
    for (std::size_t first = 0; first < run.rows; first += run.batch, ++s) {
      const Step& step = steps[s];
      const oracle::Estimate loss = trainer.step(golden_batch(run, first)).total();
      j.losses = std::max(j.losses, share(step.loss - loss.value, loss.bound));
      j.loss_bound = std::max(j.loss_bound, loss.bound / std::abs(loss.value));
      const std::size_t arrays = step.weights.size();
      const auto slot = [&](std::size_t a, std::size_t k) {
        return k * arrays + a < step.slots.size() ? std::span<const float>(step.slots[k * arrays + a])
                                                  : std::span<const float>();
      };
      for (std::size_t a = 0; a < arrays; ++a) {
        const oracle::Estimates w = trainer.weights(a);
        judge(step.weights[a], w.values, w.bounds, j.weights, j.weight_bound);
        for (std::size_t k = 0; k < 2; ++k) {
          const oracle::Estimates expected = trainer.slots(a, static_cast<int>(k));
          double ignored = 0;
          judge({slot(a, k).begin(), slot(a, k).end()}, expected.values, expected.bounds, j.slots, ignored);
        }
        trainer.adopt(a, step.weights[a], slot(a, 0), slot(a, 1));
      }
    }
  }
  return j;
}

class GoldenRuns : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Keras, GoldenRuns, ::testing::ValuesIn(kRuns),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(GoldenRuns, OnOneTwoAndThreeDevices) {
  const GoldenRun run = tests::load_golden(GetParam());
  for (const int n : {1, 2, 3}) {
    const auto steps = train(run, Mirrored(n));
    ASSERT_EQ(steps.size(), run.loss.size());
    const Judgement keras = judge_by_keras(run, steps), single = judge_step_by_step(run, steps);
    EXPECT_LE(keras.losses, 1) << n;
    EXPECT_LE(keras.weights, 1) << n;
    EXPECT_LE(single.losses, 1) << n;
    EXPECT_LE(single.weights, 1) << n;
    EXPECT_LE(single.slots, 1) << n;
    EXPECT_LT(single.loss_bound, 2e-5);
    EXPECT_LT(single.weight_bound, 5e-5);
  }
}

TEST(GoldenClip, NoticesNormsOfEachParameterAloneOrNone) {
  GoldenRun run = tests::load_golden("mlp_clip_global");
  run.optimizer.global_clip_norm = 0;
  for (const Clipping& other :
       {Clipping{}, Clipping{Clipping::Kind::kNorm, 0.2}, Clipping{Clipping::Kind::kValue, 0.2}}) {
    testing::Recipe recipe = recipe_of(run);
    recipe.optimizer = [&] {
      const auto made = sgd({.learning_rate = run.optimizer.rate});
      made->set_clipping(other);
      return made;
    };
    const auto steps = train(run, recipe, Mirrored(2));
    EXPECT_GT(judge_by_keras(tests::load_golden("mlp_clip_global"), steps).weights, 10);
  }
}

/// The mean over the global batch, times a factor that has no business there.
class Scaled final : public LossNormaliser {
 public:
  explicit Scaled(float factor) : factor_(factor) {}
  float scale(float weight_sum, int replicas) const override {
    return factor_ * GlobalMean().scale(weight_sum, replicas);
  }

 private:
  const float factor_;
};

TEST_P(GoldenRuns, NoticeAGradientOfAnotherSize) {
  const GoldenRun run = tests::load_golden(GetParam());
  if (run.optimizer.global_clip_norm > 0) return;  // which undoes another size
  for (const float factor : {2.0F, 0.5F, 1.001F}) {
    StrategyOptions options;
    options.parts.normaliser = std::make_shared<Scaled>(factor);
    const auto steps = train(run, Mirrored(2, options));
    const Judgement keras = judge_by_keras(run, steps), single = judge_step_by_step(run, steps);
    if (run.optimizer.name == "sgd") {
      EXPECT_GT(single.weights, factor == 1.001F ? 1 : 100) << factor;
      EXPECT_GT(keras.weights, factor == 1.001F ? 0 : 10) << factor;
    } else {  // a step of Adam does not depend on the size of the gradient; its moments tell
      EXPECT_GT(single.slots, factor == 1.001F ? 1 : 100) << factor;
    }
  }
}

}  // namespace
}  // namespace mirrorscale::strategies

// The oracle's gradients against differences of its own loss, for every activation and loss.
#include "scenarios/oracle/trainer.h"

#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace mirrorscale::scenarios::oracle {
namespace {

constexpr std::size_t kRows = 7, kInputs = 5, kOutputs = 3;

struct Problem {
  std::vector<Dense> layers;
  Settings settings;
  std::vector<std::vector<double>> weights;
  std::vector<double> x, targets, sample_weights;
  std::vector<int> labels;

  Batch batch() const { return {kRows, x, labels, targets, sample_weights}; }
};

Problem problem(Activation hidden, Loss loss) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Problem p;
  Activation last = Activation::kLinear;
  if (loss == Loss::kSparseCrossEntropy) last = Activation::kSoftmax;
  if (loss == Loss::kBinaryCrossEntropy) last = Activation::kSigmoid;
  p.layers = {{.inputs = kInputs, .outputs = 4, .activation = hidden, .l1 = 0.01, .l2 = 0.02},
              {.inputs = 4, .outputs = 4, .activation = hidden, .bias = false},
              {.inputs = 4, .outputs = kOutputs, .activation = last}};
  p.settings = {.loss = loss, .optimizer = Sgd{.rate = 0}, .threads = 1};
  for (const std::size_t size : {kInputs * 4, std::size_t{4}, std::size_t{16}, 4 * kOutputs, kOutputs}) {
    p.weights.emplace_back(size);
    for (double& w : p.weights.back()) w = 0.7 * normal(random);
  }
  for (std::size_t i = 0; i < kRows * kInputs; ++i) p.x.push_back(normal(random));
  for (std::size_t r = 0; r < kRows; ++r) p.sample_weights.push_back(0.5 + static_cast<double>(r) / 4);
  const bool sparse = loss == Loss::kSparseCrossEntropy || loss == Loss::kSparseCrossEntropyFromLogits;
  for (std::size_t r = 0; r < kRows && sparse; ++r) p.labels.push_back(static_cast<int>(r % kOutputs));
  for (std::size_t i = 0; i < kRows * kOutputs && !sparse; ++i)
    p.targets.push_back(0.1 + 0.8 * static_cast<double>(i % 2));
  return p;
}

class OracleGradient : public testing::TestWithParam<std::tuple<Activation, Loss>> {};

TEST_P(OracleGradient, IsTheSlopeOfTheLoss) {
  const Problem p = problem(std::get<0>(GetParam()), std::get<1>(GetParam()));
  Trainer trainer(p.layers, p.settings, p.weights);
  trainer.step(p.batch());
  constexpr double kStep = 1e-6;
  for (std::size_t a = 0; a < p.weights.size(); ++a) {
    for (std::size_t i = 0; i < p.weights[a].size(); ++i) {
      const auto loss_at = [&](double shift) {
        auto moved = p.weights;
        moved[a][i] += shift;
        return Trainer(p.layers, p.settings, moved).evaluate(p.batch()).loss.total().value;
      };
      const double slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
      ASSERT_NEAR(trainer.gradients(a).values[i], slope, 1e-8 * (1 + std::fabs(slope))) << a << ", " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, OracleGradient,
    testing::Combine(testing::Values(Activation::kLinear, Activation::kRelu, Activation::kTanh,
                                     Activation::kSigmoid, Activation::kGelu, Activation::kSoftmax),
                     testing::Values(Loss::kSparseCrossEntropyFromLogits, Loss::kSparseCrossEntropy,
                                     Loss::kMeanSquaredError, Loss::kMeanAbsoluteError,
                                     Loss::kBinaryCrossEntropyFromLogits, Loss::kBinaryCrossEntropy)));

TEST(OracleThreads, ChangeNothing) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const std::vector<Dense> layers{{.inputs = 67, .outputs = 129, .activation = Activation::kTanh},
                                  {.inputs = 129, .outputs = 5}};
  std::vector<std::vector<double>> weights{std::vector<double>(67 * 129), std::vector<double>(129),
                                           std::vector<double>(129 * 5), std::vector<double>(5)};
  for (auto& array : weights) {
    for (double& w : array) w = 0.1 * normal(random);
  }
  std::vector<double> x(101 * 67);
  for (double& v : x) v = normal(random);
  const std::vector<int> labels(101, 3);
  Trainer one(layers, {.optimizer = Adam{}, .threads = 1}, weights);
  Trainer many(layers, {.optimizer = Adam{}, .threads = 5}, weights);
  for (int i = 0; i < 2; ++i) {
    const Batch batch{.rows = 101, .x = x, .labels = labels};
    EXPECT_EQ(one.step(batch).data.bound, many.step(batch).data.bound);
  }
  for (std::size_t a = 0; a < 4; ++a) {
    EXPECT_EQ(one.weights(a).values, many.weights(a).values);
    EXPECT_EQ(one.weights(a).bounds, many.weights(a).bounds);
  }
}

}  // namespace
}  // namespace mirrorscale::scenarios::oracle

// The oracle's bounds against float32 runs: never exceeded, and not idle.
#include "tests/scenarios/oracle/bound_cases.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace mirrorscale::tests {
namespace {

using A = oracle::Activation;
using L = oracle::Loss;

constexpr unsigned kSeeds = 3;

std::vector<std::pair<std::string, oracle::Optimizer>> optimizers() {
  return {{"sgd", oracle::Sgd{.rate = 0.1}},
          {"momentum", oracle::Sgd{.rate = 0.05, .momentum = 0.9}},
          {"nesterov", oracle::Sgd{.rate = 0.05, .momentum = 0.9, .nesterov = true}},
          {"adam", oracle::Adam{.rate = 0.001}},
          {"adamw", oracle::Adam{.rate = 0.01, .weight_decay = 0.05}},
          {"adagrad", oracle::Adagrad{.rate = 0.05}}};
}

BoundCase base(std::string name, std::vector<oracle::Dense> layers, std::size_t steps) {
  BoundCase c;
  c.name = std::move(name);
  c.layers = std::move(layers);
  c.settings.threads = 1;
  c.steps = steps;
  return c;
}

std::vector<BoundCase> cases() {
  std::vector<BoundCase> all;
  for (const auto& [name, optimizer] : optimizers()) {
    const auto add = [&, &label = name, &chosen = optimizer](BoundCase c) {
      c.name = label + "_" + c.name;
      c.settings.optimizer = chosen;
      all.push_back(std::move(c));
    };
    BoundCase c = base("relu", network(48, 40, 2, 10, A::kRelu), 10);
    c.rows = 64;
    c.shard_rows = 8;
    add(c);
    c.kind = Rows::kPixels;
    c.name = "pixels";
    add(c);
    // Rows whose roundings are all the same.
    c = base("equal_rows", network(24, 16, 1, 4, A::kTanh), 10);
    c.kind = Rows::kAllEqual;
    add(c);
    c.kind = Rows::kIdentity;
    c.name = "identity";
    add(c);
    // Wide, positive inputs and few rows: training is unstable, errors agree and grow.
    c = base("unstable", network(256, 16, 1, 5, A::kTanh), 10);
    c.kind = Rows::kUniform;
    c.rows = 4;
    c.shard_rows = 1;
    c.fresh_batches = false;
    add(c);
  }
  const auto with_loss = [&](std::string name, L loss, A hidden, A last) {
    BoundCase c = base(std::move(name), network(32, 24, 1, 6, hidden, last), 8);
    c.settings.loss = loss;
    return c;
  };
  all.push_back(with_loss("gelu_softmax", L::kSparseCrossEntropy, A::kGelu, A::kSoftmax));
  all.push_back(all.back());
  all.back().name = "weighted";
  all.back().weighted = true;
  all.push_back(all.back());
  all.back().name = "weighted_by_rows";
  all.back().settings.normaliser = oracle::Normaliser::kRows;
  all.push_back(with_loss("sigmoid_probabilities", L::kBinaryCrossEntropy, A::kSigmoid, A::kSigmoid));
  all.push_back(with_loss("binary_logits", L::kBinaryCrossEntropyFromLogits, A::kTanh, A::kLinear));
  all.push_back(with_loss("absolute", L::kMeanAbsoluteError, A::kRelu, A::kLinear));
  all.push_back(with_loss("squared", L::kMeanSquaredError, A::kRelu, A::kLinear));
  all.push_back(all.back());
  all.back().name = "penalties";
  all.back().layers[0].l2 = 0.01;
  all.back().layers[1].l1 = 0.001;
  all.push_back(all.back());
  all.back().name = "clipped";
  all.back().settings.global_clip_norm = 0.1;
  return all;
}

class OracleBound : public testing::TestWithParam<BoundCase> {};

TEST_P(OracleBound, HoldsForAFaithfulFloat32Run) {
  double largest = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const Ratios ratios = BoundRun(GetParam(), seed).run();
    largest = std::max(largest, ratios.largest());
    EXPECT_LE(ratios.largest(), 1) << "seed " << seed;
    // A bound that is far above every error could not judge anything.
    EXPECT_GT(ratios.weights.front(), 0.01) << "seed " << seed;
  }
  RecordProperty("largest_ratio", std::to_string(largest));
  std::cout << "largest |difference| / bound: " << largest << '\n';
}

INSTANTIATE_TEST_SUITE_P(Runs, OracleBound, testing::ValuesIn(cases()),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace mirrorscale::tests

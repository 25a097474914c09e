// What the oracle is for: a float32 run with a fault leaves the bound, after one step and after several.
#include "tests/scenarios/oracle/bound_cases.h"

#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <iostream>
#include <string>
#include <vector>

namespace mirrorscale::tests {
namespace {

constexpr unsigned kSeeds = 3;

struct FaultCase {
  std::string name;
  oracle::Optimizer optimizer;
  Fault fault;
  Rows kind = Rows::kNormal;
};

std::vector<FaultCase> cases() {
  const Fault doubled{.gradient_factor = 2}, halved{.gradient_factor = 0.5F}, rate{.rate_factor = 1.01F};
  const Fault shard{.dropped_first = 24, .dropped_rows = 8};  // one of eight
  const oracle::Sgd sgd{.rate = 0.1}, slow{.rate = 0.01}, momentum{.rate = 0.05, .momentum = 0.9};
  const oracle::Adam adam{.rate = 0.001};
  return {{"sgd_gradient_doubled", sgd, doubled},
          {"sgd_gradient_halved", sgd, halved},
          {"sgd_shard_missing", sgd, shard},
          {"sgd_rate", sgd, rate},
          {"pixels_shard_missing", sgd, shard, Rows::kPixels},
          {"slow_sgd_rate", slow, rate},
          {"slow_sgd_shard_missing", slow, shard},
          {"momentum_gradient_doubled", momentum, doubled},
          {"momentum_rate", momentum, rate},
          {"adam_shard_missing", adam, shard},
          {"adam_rate", adam, rate},
          // Adam forgets the gradient's size, but for epsilon and for its slots.
          {"adam_gradient_doubled", adam, doubled}};
}

class OracleFault : public testing::TestWithParam<FaultCase> {};

TEST_P(OracleFault, LeavesTheBoundAtEveryStep) {
  BoundCase c;
  c.layers = network(48, 40, 2, 10, oracle::Activation::kRelu);
  c.settings.threads = 1;
  c.settings.optimizer = GetParam().optimizer;
  c.rows = 64;
  c.shard_rows = 8;
  c.kind = GetParam().kind;
  double smallest = HUGE_VAL;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const Ratios ratios = BoundRun(c, seed, GetParam().fault).run();
    for (std::size_t s = 0; s < c.steps; ++s)
      EXPECT_GT(ratios.weights[s], 1) << "seed " << seed << ", step " << s + 1;
    smallest = std::min(smallest, *std::min_element(ratios.weights.begin(), ratios.weights.end()));
  }
  RecordProperty("smallest_ratio", std::to_string(smallest));
  std::cout << "smallest |difference| / bound: " << smallest << '\n';
}

INSTANTIATE_TEST_SUITE_P(Faults, OracleFault, testing::ValuesIn(cases()),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace mirrorscale::tests

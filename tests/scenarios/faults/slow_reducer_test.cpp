#include "scenarios/faults/slow_reducer.h"

#include "scenarios/validation/invariants.h"
#include "scenarios/workloads/data_source.h"
#include "strategies/timeline.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace mirrorscale::scenarios {
namespace {

CellSpec small_cell() {
  CellSpec spec;
  spec.workload = "mlp-small";
  spec.data = "clusters";
  spec.optimizer = "adam";
  spec.devices = 2;
  spec.global_batch = 32;
  return spec;
}

TEST(Spin, TakesLongerForMoreTurns) {
  const auto best_of = [](std::int64_t turns) {
    double best = 1;
    for (int i = 0; i < 20; ++i) {
      const double start = strategies::now_s();
      spin(turns);
      best = std::min(best, strategies::now_s() - start);
    }
    return best;
  };
  const double one = best_of(200'000), four = best_of(800'000);
  EXPECT_NEAR(four / one, 4, 0.8);
}

// A slow step is a right one: the bits are those of the plain reducer, and every turn is taken.
TEST(SlowReducer, ChangesNoBits) {
  const CellSpec spec = small_cell();
  Yardsticks yardsticks(load_data(spec.data, spec.seed));
  const auto turns = std::make_shared<SpinTurns>();
  turns->each_step = 1'000'000;
  strategies::EngineParts parts = parts_of(spec);
  parts.make_reducer = [make = parts.make_reducer, turns] { return slow_reducer(make(), turns); };
  const CellVerdicts slow = validate_cell(spec, yardsticks, parts);
  const CellVerdicts plain = validate_cell(spec, yardsticks);
  EXPECT_EQ(slow.weight_hash, plain.weight_hash);
  EXPECT_FALSE(harness::any_failed(slow.verdicts));
}

}  // namespace
}  // namespace mirrorscale::scenarios

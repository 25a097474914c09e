#pragma once
#include "tests/strategies/support/bits.h"
#include "tests/strategies/support/recipe.h"

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace mirrorscale::strategies::testing {

/// All that a short training may be compared by.
struct Trajectory {
  std::vector<Pooled> losses;                    // of each step
  std::vector<std::vector<NamedArray>> weights;  // after each step
  std::vector<NamedArray> slots;
  Pooled evaluation;
  std::vector<float> predictions;
};

/// Trains two epochs in shuffled order, a step at a time. After every step all replicas must have the same
/// bits.
inline Trajectory train(const Strategy& strategy, const Recipe& recipe, const DatasetPtr& data, int batch,
                        int accumulate = 1) {
  const auto model = build(strategy, recipe);
  Session& session = model->session();
  session.start_training(data, batch, accumulate);
  const std::int64_t batches = (data->rows() + batch - 1) / batch;
  Trajectory result;
  for (int epoch = 0; epoch < 2; ++epoch) {
    const auto order = UniformShuffle().order(data->rows(), 5, epoch);
    for (std::int64_t i = 0; i < batches; ++i) {
      result.losses.push_back(session.train(order, i, 1));
      const auto arena = session.arena(0);
      result.weights.push_back(session.weights());
      for (int r = 1; r < strategy.replicas(); ++r) {
        EXPECT_TRUE(same_bits(session.arena(r), arena))
            << "replica " << r << " after step " << session.steps();
      }
    }
  }
  result.slots = session.slots();
  std::vector<std::int64_t> rows(static_cast<std::size_t>(data->rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  result.evaluation = session.evaluate(data, rows, batch);
  result.predictions = session.predict(data, batch).values;
  return result;
}

inline ::testing::AssertionResult same_bits(const Trajectory& a, const Trajectory& b) {
  if (a.losses.size() != b.losses.size()) return ::testing::AssertionFailure() << "numbers of steps differ";
  for (std::size_t s = 0; s < a.losses.size(); ++s) {
    if (auto same = same_bits(a.losses[s], b.losses[s]); !same) return same << " of step " << s;
    if (auto same = same_bits(a.weights[s], b.weights[s]); !same)
      return same << " (weights after step " << s << ")";
  }
  if (auto same = same_bits(a.slots, b.slots); !same) return same << " (slots)";
  if (auto same = same_bits(a.evaluation, b.evaluation); !same) return same << " (evaluation)";
  if (auto same = same_bits(a.predictions, b.predictions); !same) return same << " (predictions)";
  return ::testing::AssertionSuccess();
}

}  // namespace mirrorscale::strategies::testing

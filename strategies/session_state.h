#pragma once
#include "strategies/session.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace mirrorscale::strategies {

/// What the ranks of a session work on. Kept apart so that a rank that is left behind finds it alive.
struct Session::State {
  std::shared_ptr<const Network> network;
  std::vector<std::unique_ptr<Replica>> replicas;
  // A replica's rows of the step, and of an evaluation or prediction, which may come between steps.
  std::vector<BatchBuffers> training_batches, judged_batches;
  Objective objective;
  std::unique_ptr<Reducer> reducer;

  std::atomic<std::int64_t> steps = 0;  // optimizer steps done

  DatasetPtr dataset;  // of the training; null until there is one
  int global_batch = 0;
  std::size_t most_roots = 1;  // of one replica
  BatchPlan full, last;        // plans of a whole batch and of an epoch's last one

  /// l1 * sum |w| + l2 * sum w^2 over replica 0's penalised parameters.
  double penalty() const;
  const BatchPlan& plan(std::int64_t batch) const {
    return (batch + 1) * global_batch <= dataset->rows() ? full : last;
  }
};

}  // namespace mirrorscale::strategies

#pragma once
#include "strategies/engine/tally.h"
#include "strategies/input/accumulation.h"
#include "strategies/session.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace mirrorscale::strategies {

/// What the ranks of a session work on. Kept apart so that a rank that is left behind finds it alive.
struct Session::State {
  std::shared_ptr<const Network> network;
  std::uint64_t seed = 0;  // of the model
  std::vector<std::unique_ptr<Replica>> replicas;
  std::unique_ptr<DeviceGroup> group;
  std::vector<std::unique_ptr<Communicator>> seats;  // of the devices' memory
  // A replica's rows of the step, and of an evaluation or prediction, which may come between steps.
  // Declared after the replicas, so that all that lies on a device goes before its backend does.
  std::vector<BatchBuffers> training_batches, judged_batches;
  Objective objective;
  std::unique_ptr<Reducer> reducer;

  std::atomic<std::int64_t> steps = 0;  // optimizer steps done
  OnNan on_nan = OnNan::kContinue;
  std::atomic<NonFinite> non_finite = NonFinite::kNone;  // in the last step that was not applied

  DatasetPtr dataset;  // of the training; null until there is one
  int global_batch = 0;
  std::size_t most_roots = 1;  // of one piece
  /// How a batch is shared out, and the pieces of each replica's share.
  struct StepPlan {
    BatchPlan batch;
    std::vector<PiecePlan> shares;
  };
  StepPlan full, last;  // of a whole batch and of an epoch's last one

  /// A piece's forward and backward, recorded: of one piece, input slot, and place of the replica's memory.
  struct Recording {
    const Piece* piece = nullptr;
    int slot = 0, generation = 0;
    std::unique_ptr<kernels::RecordedOps> ops;  // null after the first, plain run
    kernels::ConstMatrix output = {};           // where its predictions are; an evaluation has others
  };
  std::vector<std::vector<Recording>> recordings;  // by replica; empty where steps aren't recorded

  /// Runs `body` on every replica's thread; a rank that fails frees those that wait for it on their devices.
  static void run(const Strategy& strategy, const std::shared_ptr<State>& state,
                  const std::function<void(State&, Communicator& host)>& body);
  /// Waits for the device of this rank, within the group's limit.
  void wait(int rank, const char* what);
  /// `rows` of a data set into a slot of a replica's buffers, and on their way.
  static void load(const Dataset& dataset, std::span<const std::int64_t> rows, BatchBuffers& batch, int slot);

  /// A tally for each replica; none where no metric counts.
  std::vector<Tally> tallies() const;
  /// l1 * sum |w| + l2 * sum w^2 over replica 0's penalised parameters.
  double penalty() const;
  const StepPlan& plan(std::int64_t batch) const {
    return (batch + 1) * global_batch <= dataset->rows() ? full : last;
  }
};

}  // namespace mirrorscale::strategies

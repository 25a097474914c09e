#pragma once
#include "strategies/comm/communicator.h"
#include "strategies/engine/optimizer.h"
#include "strategies/engine/replica.h"
#include "strategies/input/shard_tree.h"
#include "strategies/loss_normaliser.h"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::strategies {

/// Sums over the rows of one global batch, as StatisticsColumns orders them.
using StepStatistics = std::array<float, kernels::kPanel>;

/// One training step's input to the reducer; the same on all replicas but for `rank`.
struct ReductionStep {
  int rank = 0;
  Communicator& communicator;
  std::span<const std::unique_ptr<Replica>> replicas;
  const BatchPlan& plan;
  const Optimizer& optimizer;
  const LossNormaliser& normaliser;
  std::int64_t step = 0;  // optimizer steps done before
};

struct ReductionResult {
  StepStatistics statistics{};  // of the whole batch
  double reduction_s = 0;       // time in communication, where it can be told from the update
};

/// Turns the replicas' gradient roots into new weights on all replicas, and owns the optimizer's slots.
/// Called by every replica's thread between two barriers: all gradients are ready before, all weights are
/// read after. Implementations give the same bits.
class Reducer {
 public:
  virtual ~Reducer() = default;
  virtual std::string name() const = 0;
  /// Makes the slots (zeros). Once, before the first step, by every replica's thread.
  virtual void prepare(int rank, int replicas, const Network& network, const Optimizer& optimizer) = 0;
  /// Makes room for sums over up to `roots` subtree roots (of all replicas), so that steps allocate nothing.
  /// Before each training, by every replica's thread.
  virtual void reserve(int /*rank*/, std::size_t /*roots*/) {}
  virtual ReductionResult reduce_and_update(const ReductionStep& step) = 0;
  /// The slots as one arena each, and the reverse. Not while a step runs.
  virtual std::vector<std::vector<float>> slots() const = 0;
  virtual void set_slots(std::span<const std::vector<float>> arenas) = 0;
  /// Bytes of slots on the fullest replica.
  virtual std::size_t planned_bytes(const Network& network, int slots, int replicas) const = 0;
};

/// Each replica sums one slice of the gradient over all replicas, updates it once, and writes the new weights
/// to all: less traffic than all-reduce and update everywhere. One process only.
std::unique_ptr<Reducer> fused_reducer();
/// Every replica gets the whole sum (all-reduce) and updates all of its own weights with slots of its own.
std::unique_ptr<Reducer> replicated_reducer();
/// No communication: every replica updates its own weights from its own rows. Replicas drift apart: this is
/// NOT mirrored training (see ModelAveraging).
std::unique_ptr<Reducer> local_reducer();

/// "fused", "replicated". Throws std::invalid_argument that lists the names.
std::unique_ptr<Reducer> make_reducer(std::string_view name);

}  // namespace mirrorscale::strategies

#pragma once
#include "strategies/comm/communicator.h"
#include "strategies/engine/optimizer.h"
#include "strategies/engine/replica.h"
#include "strategies/input/shard_tree.h"
#include "strategies/loss_normaliser.h"
#include "strategies/on_nan.h"

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
  Communicator& communicator;  // of the devices' memory
  Communicator& host;          // of host memory
  std::span<const std::unique_ptr<Replica>> replicas;
  const BatchPlan& plan;
  const Optimizer& optimizer;
  const LossNormaliser& normaliser;
  std::int64_t step = 0;  // optimizer steps done before
  bool guarded = false;   // a step that is not finite is not applied
};

struct ReductionResult {
  StepStatistics statistics{};              // of the whole batch
  NonFinite non_finite = NonFinite::kNone;  // of a guarded step: else nothing was updated
  bool marked_reduction = false;  // StepMark::kReduced was set, where the sum can be told from the update
};

/// Turns the replicas' gradient roots into new weights on all replicas, and owns the optimizer's slots.
/// Called by every replica's thread between two barriers: all gradients are ready before, all weights are
/// read after. Implementations give the same bits.
class Reducer {
 public:
  virtual ~Reducer() = default;
  virtual std::string name() const = 0;
  /// Makes the slots (zeros). Once, before the first step, by every replica's thread.
  virtual void prepare(int rank, int replicas, Replica& mine, const Optimizer& optimizer) = 0;
  /// Why it can't work on such a backend; empty where it can.
  virtual std::string why_not(const kernels::BackendInfo&) const { return {}; }
  /// True where a replica's rows are summed as one root, in an order of the backend's own: `fast` numerics.
  virtual bool whole_shares() const { return false; }
  /// Makes room for sums over up to `roots` subtree roots (of all replicas), so that steps allocate nothing.
  /// Before each training, by every replica's thread.
  virtual void reserve(int /*rank*/, std::size_t /*roots*/) {}
  /// Makes room for guarded steps. Before each training that has them, by every replica's thread.
  virtual void guard(int rank, Replica& mine) = 0;
  /// Backward of this rank has enqueued its gradients at arena positions from `from` on, statistics included:
  /// a reducer may begin with them.
  virtual void gradients_ready(int /*rank*/, Communicator&, Replica& /*mine*/, std::size_t /*from*/) {}
  virtual ReductionResult reduce_and_update(const ReductionStep& step) = 0;
  /// Copies this rank's part of the slots into host memory: an arena a slot. By every rank's thread, not
  /// while a step runs.
  virtual void read_slots(int rank, Replica& mine, std::span<std::vector<float>> arenas) const = 0;
  /// The reverse: whole arenas of host memory, of which this rank takes its part.
  virtual void write_slots(int rank, Replica& mine, std::span<const std::vector<float>> arenas) = 0;
  /// Bytes of the fullest replica's device for the slots and what a step works on, with up to `roots` subtree
  /// roots of all replicas; `guarded` as ReductionStep's.
  virtual std::size_t planned_bytes(const Network& network, const Optimizer& optimizer, int replicas,
                                    std::size_t roots, bool guarded) const = 0;
};

/// Each replica sums one slice of the gradient over all replicas, updates it once, and writes the new weights
/// to all: less traffic than all-reduce and update everywhere. One process only.
std::unique_ptr<Reducer> fused_reducer();
/// Every replica gets the whole sum (all-reduce) and updates all of its own weights with slots of its own.
std::unique_ptr<Reducer> replicated_reducer();
/// No communication: every replica updates its own weights from its own rows. Replicas drift apart: this is
/// NOT mirrored training (see ModelAveraging).
std::unique_ptr<Reducer> local_reducer();

/// As replicated, but each bucket's all-reduce starts as soon as backward has made it, beside the rest of
/// backward. A bucket takes whole layers until it has `bucket_bytes`. Sums in the order of the communicator.
std::unique_ptr<Reducer> bucketed_reducer(std::size_t bucket_bytes = std::size_t{25} << 20);

/// The one that suits a backend: fused on the host; on a GPU replicated for exact, bucketed for fast
/// numerics.
std::unique_ptr<Reducer> default_reducer(const kernels::BackendInfo& info);

/// "fused", "replicated", "bucketed". Throws std::invalid_argument that lists the names.
std::unique_ptr<Reducer> make_reducer(std::string_view name);

}  // namespace mirrorscale::strategies

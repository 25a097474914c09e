#include "strategies/reducer.h"
#include "strategies/slice_update.h"
#include "strategies/step_mark.h"

#include <mutex>

namespace mirrorscale::strategies {
namespace {

/// Whether a replica sums over all replicas' roots, or over its own only.
enum class Scope { kAllReplicas, kOwnRows };

class ReplicatedReducer final : public Reducer {
 public:
  explicit ReplicatedReducer(Scope scope) : scope_(scope) {}
  std::string name() const override { return scope_ == Scope::kAllReplicas ? "replicated" : "local"; }

  void prepare(int rank, int replicas, Replica& mine, const Optimizer& optimizer) override {
    {
      const std::lock_guard lock(mutex_);
      if (seats_.empty()) {
        seats_.resize(static_cast<std::size_t>(replicas));
        size_ = mine.network().parameters().size();
      }
    }
    Seat& seat = seats_[static_cast<std::size_t>(rank)];
    seat.sum = mine.backend().make_buffer(size_ + kernels::kBlock);
    seat.slots.make(mine, optimizer.all_slots().size());
    seat.norms.make(mine, optimizer);
  }

  void guard(int rank, Replica& mine) override { seats_[static_cast<std::size_t>(rank)].norms.guard(mine); }

  ReductionResult reduce_and_update(const ReductionStep& step) override {
    Seat& seat = seats_[static_cast<std::size_t>(step.rank)];
    Replica& mine = *step.replicas[static_cast<std::size_t>(step.rank)];
    ReductionResult result;
    const bool any = sum(step, seat, mine);
    mine.backend().mark(StepMark::kReduced);
    result.marked_reduction = true;
    mine.backend().download(seat.sum.get() + size_, kernels::kPanel, result.statistics.data());
    if (any && step.guarded) result.non_finite = seat.norms.look(mine, result.statistics, seat.sum.get());
    if (any && result.non_finite == NonFinite::kNone) {
      const float scale = step.normaliser.scale(result.statistics[StatisticsColumns::kWeight],
                                                static_cast<int>(step.replicas.size()));
      update_all(step.optimizer, step.optimizer.begin(step.step), scale, seat.sum.get(), seat.slots.arenas(),
                 seat.norms, mine);
    }
    // Each replica's own rows have been weighed; what is shown is about all of them.
    if (scope_ == Scope::kOwnRows) step.host.all_reduce(result.statistics, ReduceOp::kSum);
    return result;
  }

  void read_slots(int rank, Replica& mine, std::span<std::vector<float>> arenas) const override {
    if (rank == 0) seats_[0].slots.read(mine, arenas);
  }
  void write_slots(int rank, Replica& mine, std::span<const std::vector<float>> arenas) override {
    seats_[static_cast<std::size_t>(rank)].slots.write(mine, arenas);
  }

  std::size_t planned_bytes(const Network& network, const Optimizer& optimizer, int /*replicas*/,
                            std::size_t /*roots*/, bool guarded) const override {
    const ParameterLayout& parameters = network.parameters();
    return (parameters.size() * (optimizer.all_slots().size() + 1) + kernels::kBlock) * sizeof(float) +
           WholeNorms::planned_bytes(parameters, optimizer, guarded);
  }

 private:
  struct Seat {
    kernels::Buffer sum;
    SlotArenas slots;
    WholeNorms norms;
    std::vector<const float*> roots;
    TreePlan plan;
  };

  /// Fills seat.sum, statistics included; false when this replica has nothing to update.
  bool sum(const ReductionStep& step, Seat& seat, Replica& mine) {
    const auto& own = step.plan.shares[static_cast<std::size_t>(step.rank)];
    seat.roots.clear();
    for (std::size_t i = 0; i < own.roots.size(); ++i)
      seat.roots.push_back(mine.gradient(static_cast<int>(i)));
    const std::size_t count = size_ + kernels::kBlock;
    if (scope_ == Scope::kAllReplicas) {
      seat.plan.roots.clear();
      seat.plan.additions.clear();
      for (const auto& share : step.plan.shares)
        seat.plan.roots.push_back(static_cast<int>(share.roots.size()));
      for (const Addition& a : step.plan.additions) seat.plan.additions.push_back({a.left, a.right});
      step.communicator.all_reduce_tree(seat.roots, seat.plan, {seat.sum.get(), count});
      return true;
    }
    // The rows are this replica's own batch: its roots are added from left to right.
    for (std::size_t i = 0; i < seat.roots.size(); ++i) {
      if (i == 0) {
        mine.backend().copy(seat.roots[0], count, seat.sum.get());
      } else {
        mine.backend().add(count, seat.sum.get(), seat.roots[i], seat.sum.get());
      }
    }
    if (seat.roots.empty()) mine.backend().clear(seat.sum.get() + size_, kernels::kBlock);
    return !seat.roots.empty();
  }

  const Scope scope_;
  std::mutex mutex_;  // of the first prepare
  std::vector<Seat> seats_;
  std::size_t size_ = 0;
};

}  // namespace

std::unique_ptr<Reducer> replicated_reducer() {
  return std::make_unique<ReplicatedReducer>(Scope::kAllReplicas);
}
std::unique_ptr<Reducer> local_reducer() {
  return std::make_unique<ReplicatedReducer>(Scope::kOwnRows);
}

}  // namespace mirrorscale::strategies

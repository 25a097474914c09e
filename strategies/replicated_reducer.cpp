#include "strategies/reducer.h"
#include "strategies/slice_update.h"
#include "strategies/tree_sum.h"

#include <algorithm>
#include <chrono>
#include <mutex>

namespace mirrorscale::strategies {
namespace {

/// Whether a replica sums over all replicas' roots, or over its own only.
enum class Scope { kAllReplicas, kOwnRows };

class ReplicatedReducer final : public Reducer {
 public:
  explicit ReplicatedReducer(Scope scope) : scope_(scope) {}
  std::string name() const override { return scope_ == Scope::kAllReplicas ? "replicated" : "local"; }

  void prepare(int rank, int replicas, const Network& network, const Optimizer& optimizer) override {
    {
      const std::lock_guard lock(mutex_);
      if (seats_.empty()) {
        seats_.resize(static_cast<std::size_t>(replicas));
        size_ = network.parameters().size();
        targets_ = slice_targets(network);
        slots_ = static_cast<int>(optimizer.slots().size());
      }
    }
    Seat& seat = seats_[static_cast<std::size_t>(rank)];
    seat.sum = kernels::make_buffer(size_ + kernels::kBlock);
    for (int s = 0; s < slots_; ++s) seat.slots[s] = kernels::make_buffer(size_);
  }

  ReductionResult reduce_and_update(const ReductionStep& step) override {
    Seat& seat = seats_[static_cast<std::size_t>(step.rank)];
    Replica& mine = *step.replicas[static_cast<std::size_t>(step.rank)];
    ReductionResult result;
    const auto start = std::chrono::steady_clock::now();
    const bool any = sum(step, seat, mine, result.statistics);
    result.reduction_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (any) {
      const float scale = step.normaliser.scale(seat.sum[size_ + StatisticsColumns::kWeight],
                                                static_cast<int>(step.replicas.size()));
      const StepValues values = step.optimizer.begin(step.step);
      for_each_chunk(targets_, 0, size_, TreeSum::kChunk,
                     [&](const SliceTarget& target, std::size_t at, std::size_t count) {
                       UpdateRange range{count,
                                         seat.sum.get() + at,
                                         mine.weights() + at,
                                         {},
                                         terms_of(target.slice.spec, scale),
                                         target.slice.spec.decayed};
                       for (int s = 0; s < slots_; ++s) range.slots[s] = seat.slots[s].get() + at;
                       step.optimizer.update(mine.backend(), values, range);
                       transpose_chunk(mine.backend(), target, at, count, mine.weights(), mine);
                     });
    }
    return result;
  }

  std::vector<std::vector<float>> slots() const override {
    std::vector<std::vector<float>> arenas;
    for (int s = 0; s < slots_ && !seats_.empty(); ++s) {
      arenas.emplace_back(seats_[0].slots[s].get(), seats_[0].slots[s].get() + size_);
    }
    return arenas;
  }

  void set_slots(std::span<const std::vector<float>> arenas) override {
    for (Seat& seat : seats_) {
      for (std::size_t s = 0; s < static_cast<std::size_t>(slots_); ++s) {
        std::copy(arenas[s].begin(), arenas[s].end(), seat.slots[s].get());
      }
    }
  }

  std::size_t planned_bytes(const Network& network, int slots, int /*replicas*/) const override {
    return (network.parameters().size() * static_cast<std::size_t>(slots + 1) + kernels::kBlock) *
           sizeof(float);
  }

 private:
  struct Seat {
    kernels::Buffer sum, slots[2];
    std::vector<const float*> roots;
  };

  /// Fills seat.sum, and `statistics` with those of the whole batch; false when this replica has nothing to
  /// update.
  bool sum(const ReductionStep& step, Seat& seat, Replica& mine, StepStatistics& statistics) {
    const auto& own = step.plan.shares[static_cast<std::size_t>(step.rank)];
    seat.roots.clear();
    for (std::size_t i = 0; i < own.roots.size(); ++i)
      seat.roots.push_back(mine.gradient(static_cast<int>(i)));
    if (scope_ == Scope::kAllReplicas) {
      TreePlan plan;
      for (const auto& share : step.plan.shares) plan.roots.push_back(static_cast<int>(share.roots.size()));
      for (const Addition& a : step.plan.additions) plan.additions.push_back({a.left, a.right});
      step.communicator.all_reduce_tree(seat.roots, plan, {seat.sum.get(), size_ + kernels::kBlock});
      std::copy_n(seat.sum.get() + size_, kernels::kPanel, statistics.begin());
      return true;
    }
    // The rows are this replica's own batch: its roots are added from left to right.
    for (std::size_t i = 0; i < seat.roots.size(); ++i) {
      const float* left = i == 0 ? seat.roots[0] : seat.sum.get();
      if (i == 0) {
        std::copy_n(left, size_ + kernels::kBlock, seat.sum.get());
      } else {
        mine.backend().add(size_ + kernels::kBlock, left, seat.roots[i], seat.sum.get());
      }
    }
    if (seat.roots.empty()) std::fill_n(seat.sum.get() + size_, kernels::kBlock, 0.0F);
    std::copy_n(seat.sum.get() + size_, kernels::kPanel, statistics.begin());
    step.communicator.all_reduce(statistics, ReduceOp::kSum);
    return !seat.roots.empty();
  }

  const Scope scope_;
  std::mutex mutex_;  // of the first prepare
  std::vector<Seat> seats_;
  std::vector<SliceTarget> targets_;
  std::size_t size_ = 0;
  int slots_ = 0;
};

}  // namespace

std::unique_ptr<Reducer> replicated_reducer() {
  return std::make_unique<ReplicatedReducer>(Scope::kAllReplicas);
}
std::unique_ptr<Reducer> local_reducer() {
  return std::make_unique<ReplicatedReducer>(Scope::kOwnRows);
}

}  // namespace mirrorscale::strategies

#include "strategies/reducer.h"
#include "strategies/slice_update.h"
#include "strategies/step_mark.h"

#include <algorithm>
#include <mutex>

namespace mirrorscale::strategies {
namespace {

class BucketedReducer final : public Reducer {
 public:
  explicit BucketedReducer(std::size_t bucket_bytes) : bucket_floats_(bucket_bytes / sizeof(float)) {}
  std::string name() const override { return "bucketed"; }
  bool whole_shares() const override { return true; }
  std::string why_not(const kernels::BackendInfo& info) const override {
    if (info.numerics != "exact") return {};
    return "its sums follow the number of replicas, and '" + info.name +
           "' computes in exact numerics, where they must not; use replicated" +
           (info.on_host ? " or fused" : "");
  }

  void prepare(int rank, int replicas, Replica& mine, const Optimizer& optimizer) override {
    {
      const std::lock_guard lock(mutex_);
      if (seats_.empty()) {
        seats_.resize(static_cast<std::size_t>(replicas));
        size_ = mine.network().parameters().size();
        plan_buckets(mine);
      }
    }
    Seat& seat = seats_[static_cast<std::size_t>(rank)];
    seat.slots.make(mine, optimizer.all_slots().size());
    seat.norms.make(mine, optimizer);
  }

  void gradients_ready(int rank, Communicator& communicator, Replica& mine, std::size_t from) override {
    Seat& seat = seats_[static_cast<std::size_t>(rank)];
    for (; seat.started < starts_.size() && starts_[seat.started] >= from; ++seat.started) {
      const std::size_t end = seat.started == 0 ? size_ + kernels::kBlock : starts_[seat.started - 1];
      const std::size_t start = starts_[seat.started];
      communicator.start_all_reduce({mine.gradient(0) + start, end - start});
    }
  }

  void guard(int rank, Replica& mine) override { seats_[static_cast<std::size_t>(rank)].norms.guard(mine); }

  ReductionResult reduce_and_update(const ReductionStep& step) override {
    Seat& seat = seats_[static_cast<std::size_t>(step.rank)];
    Replica& mine = *step.replicas[static_cast<std::size_t>(step.rank)];
    // A replica without rows adds nothing, but takes part in every sum.
    if (step.plan.shares[static_cast<std::size_t>(step.rank)].rows.count == 0) {
      mine.backend().clear(mine.gradient(0), size_ + kernels::kBlock);
    }
    gradients_ready(step.rank, step.communicator, mine, 0);
    seat.started = 0;
    step.communicator.finish_all_reduces();
    mine.backend().mark(StepMark::kReduced);
    ReductionResult result;
    result.marked_reduction = true;
    mine.backend().download(mine.gradient(0) + size_, kernels::kPanel, result.statistics.data());
    if (step.guarded) result.non_finite = seat.norms.look(mine, result.statistics, mine.gradient(0));
    if (result.non_finite != NonFinite::kNone) return result;
    const float scale = step.normaliser.scale(result.statistics[StatisticsColumns::kWeight],
                                              static_cast<int>(step.replicas.size()));
    update_all(step.optimizer, step.optimizer.begin(step.step), scale, mine.gradient(0), seat.slots.arenas(),
               seat.norms, mine);
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
    return parameters.size() * optimizer.all_slots().size() * sizeof(float) +
           WholeNorms::planned_bytes(parameters, optimizer, guarded);
  }

 private:
  struct Seat {
    SlotArenas slots;
    WholeNorms norms;
    std::size_t started = 0;  // buckets of this step
  };

  /// Whole layers from the last to the first; the statistics go with the last layer.
  void plan_buckets(const Replica& replica) {
    const auto& stages = replica.network().stages();
    std::size_t end = size_ + kernels::kBlock;
    for (std::size_t s = stages.size(); s-- > 0;) {
      const std::size_t start = s == 0 ? 0 : stages[s].parameters_begin;
      if (end - start < bucket_floats_ && start != 0) continue;
      if (end == start) continue;
      starts_.push_back(start);
      end = start;
    }
  }

  const std::size_t bucket_floats_;
  std::mutex mutex_;  // of the first prepare
  std::vector<Seat> seats_;
  std::vector<std::size_t> starts_;  // of the buckets, from the last to the first
  std::size_t size_ = 0;
};

}  // namespace

std::unique_ptr<Reducer> bucketed_reducer(std::size_t bucket_bytes) {
  return std::make_unique<BucketedReducer>(bucket_bytes);
}

}  // namespace mirrorscale::strategies

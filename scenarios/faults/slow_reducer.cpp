#include "scenarios/faults/slow_reducer.h"

#include <cstdint>
#include <utility>

namespace mirrorscale::scenarios {
namespace {

class SlowReducer final : public strategies::Reducer {
 public:
  SlowReducer(std::unique_ptr<strategies::Reducer> inner, std::shared_ptr<const SpinTurns> turns)
      : inner_(std::move(inner)), turns_(std::move(turns)) {}

  std::string name() const override { return inner_->name(); }
  void prepare(int rank, int replicas, strategies::Replica& mine,
               const strategies::Optimizer& optimizer) override {
    inner_->prepare(rank, replicas, mine, optimizer);
  }
  std::string why_not(const kernels::BackendInfo& info) const override { return inner_->why_not(info); }
  bool whole_shares() const override { return inner_->whole_shares(); }
  void reserve(int rank, std::size_t roots) override { inner_->reserve(rank, roots); }
  void guard(int rank, strategies::Replica& mine) override { inner_->guard(rank, mine); }
  void gradients_ready(int rank, strategies::Communicator& seat, strategies::Replica& mine,
                       std::size_t from) override {
    inner_->gradients_ready(rank, seat, mine, from);
  }
  strategies::ReductionResult reduce_and_update(const strategies::ReductionStep& step) override {
    strategies::ReductionResult result = inner_->reduce_and_update(step);
    spin(turns_->each_step.load(std::memory_order_relaxed));
    return result;
  }
  void read_slots(int rank, strategies::Replica& mine, std::span<std::vector<float>> arenas) const override {
    inner_->read_slots(rank, mine, arenas);
  }
  void write_slots(int rank, strategies::Replica& mine, std::span<const std::vector<float>> arenas) override {
    inner_->write_slots(rank, mine, arenas);
  }
  std::size_t planned_bytes(const strategies::Network& network, const strategies::Optimizer& optimizer,
                            int replicas, std::size_t roots, bool guarded) const override {
    return inner_->planned_bytes(network, optimizer, replicas, roots, guarded);
  }

 private:
  std::unique_ptr<strategies::Reducer> inner_;
  std::shared_ptr<const SpinTurns> turns_;
};

}  // namespace

void spin(std::int64_t turns) {
  std::uint64_t x = 1;
  for (std::int64_t i = 0; i < turns; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;  // each turn waits for the one before
    asm volatile("" : "+r"(x));
  }
}

std::unique_ptr<strategies::Reducer> slow_reducer(std::unique_ptr<strategies::Reducer> inner,
                                                  std::shared_ptr<const SpinTurns> turns) {
  return std::make_unique<SlowReducer>(std::move(inner), std::move(turns));
}

}  // namespace mirrorscale::scenarios

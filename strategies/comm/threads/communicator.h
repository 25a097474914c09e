#pragma once
#include "strategies/comm/communicator.h"
#include "strategies/comm/meeting_point.h"

#include <vector>

namespace mirrorscale::strategies {

/// What the ranks of one process share: a meeting point, and a place for each to show the others a pointer.
struct ThreadGroup {
  ThreadGroup(int ranks, std::chrono::milliseconds limit, bool own_cores)
      : meeting(ranks, limit, own_cores), shown(static_cast<std::size_t>(ranks)) {}
  struct Shown {
    const void* pointer = nullptr;
    std::size_t count = 0;
    std::size_t room = 0;  // floats of the result, where that is another number
  };
  MeetingPoint meeting;
  std::vector<Shown> shown;
};

/// A rank that is a thread: reads the other ranks' memory directly.
class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(ThreadGroup& group, int rank) : group_(group), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(group_.shown.size()); }
  void barrier(const char* what) override { group_.meeting.meet(rank_, what); }
  void all_reduce(std::span<float> values, ReduceOp op) override;
  void broadcast(std::span<float> values, int root) override;
  void all_gather(std::span<const float> mine, std::span<float> all) override;
  void all_reduce_tree(std::span<const float* const> roots, const TreePlan& plan,
                       std::span<float> sum) override;
  void reduce_scatter(std::span<const float> values, std::span<float> part) override;

 private:
  void show(const ThreadGroup::Shown& mine, const char* what);

  ThreadGroup& group_;
  int rank_;
};

}  // namespace mirrorscale::strategies

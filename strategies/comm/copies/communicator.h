#pragma once
#include "kernels/backend.h"
#include "kernels/cuda/owned.h"
#include "kernels/cuda/queue.h"
#include "strategies/comm/copies/schedule.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace mirrorscale::strategies::copies {

/// What the ranks show each other before they meet on the host.
struct Table {
  struct Entry {
    int ordinal = 0;
    // Set at every meeting, by turns. Here, because a rank may leave before another waits for its last mark.
    std::array<kernels::cuda::Event, 2> marks;
    std::vector<const float*> roots;  // operands of this rank
    const float* places = nullptr;    // its own sums and what it fetched
    float* result = nullptr;
    std::size_t count = 0, room = 0;  // floats of an operand, and of the result
  };
  Table(CrossDeviceOps chosen, int ranks) : ops(chosen), entries(static_cast<std::size_t>(ranks)) {}

  void throw_if_aborted(int rank) const;

  const CrossDeviceOps ops;
  std::vector<Entry> entries;
  std::atomic<bool> aborted{false};
  mutable std::mutex mutex;
  std::string why;  // guarded by mutex
};

/// A rank that is a CUDA device. The threads meet on the host between rounds, each with an event that says
/// what its device will have done by then; no device waits for something that isn't enqueued yet, so nothing
/// can hang but the meetings, which have a limit.
class CopyCommunicator final : public Communicator {
 public:
  /// By the rank's thread. Returns when all ranks have joined.
  CopyCommunicator(std::shared_ptr<Table> table, kernels::Backend& backend, Communicator& host);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(table_->entries.size()); }
  void barrier(const char* what) override { host_.barrier(what); }
  void all_reduce(std::span<float> values, ReduceOp op) override;
  void broadcast(std::span<float> values, int root) override;
  void all_gather(std::span<const float> mine, std::span<float> all) override;
  void all_reduce_tree(std::span<const float* const> roots, const TreePlan& plan,
                       std::span<float> sum) override;
  void reduce_scatter(std::span<const float> values, std::span<float> part) override;

 private:
  using Entry = Table::Entry;
  Entry& mine() { return table_->entries[static_cast<std::size_t>(rank_)]; }
  const Entry& entry(int rank) const { return table_->entries[static_cast<std::size_t>(rank)]; }
  void allow_peers();
  void show(std::span<const float* const> roots, std::size_t count, std::span<float> result,
            const char* what);
  void meet(const char* what);
  void wait_for(int rank);
  void refuse_other_counts(const char* op, std::size_t Entry::*member) const;
  void fetch(int from_rank, const float* from, std::size_t count, float* to);
  void reduce(const char* op, const Schedule& schedule, std::span<const float* const> roots,
              std::size_t count, std::span<float> result);
  void add(const Schedule& schedule, const Schedule::Sum& sum);
  const float* find(const Schedule& schedule, int operand) const;
  void share(const Schedule& schedule);
  void make_room(int places, std::size_t count);
  float* place(int number) { return room_.get() + static_cast<std::size_t>(number) * stride_; }
  void spread(int source);
  void divide(float* values);

  std::shared_ptr<Table> table_;
  kernels::Backend& backend_;
  Communicator& host_;
  const int rank_;
  const kernels::cuda::Queue queue_;
  int turn_ = 0;              // the mark of the last meeting
  std::vector<bool> waited_;  // since the last meeting, by rank
  kernels::Buffer room_;      // places; grows only
  std::size_t room_floats_ = 0, stride_ = 0;
};

}  // namespace mirrorscale::strategies::copies

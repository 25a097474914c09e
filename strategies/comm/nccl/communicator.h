#pragma once
#include "kernels/backend.h"
#include "kernels/cuda/owned.h"
#include "kernels/cuda/queue.h"
#include "strategies/comm/communicator.h"
#include "strategies/comm/nccl/links.h"
#include "strategies/comm/nccl/slices.h"

#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::strategies::nccl {

/// A rank that is a CUDA device: collectives run on a stream of its own beside the backend's, ordered by
/// events. kMean multiplies by 1 / size before it sums, as NCCL does; all_reduce has the same bits on every
/// rank, but the order of its sums is NCCL's. All other sums are made by the backend, in the order of the
/// tree.
class NcclCommunicator final : public Communicator {
 public:
  /// By the rank's thread. Returns when all ranks have joined.
  NcclCommunicator(std::shared_ptr<Links> links, kernels::Backend& backend, Communicator& host);
  /// Waits for the collectives enqueued, with the limit; breaks the group when an exception destroys it.
  ~NcclCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override { return links_->size(); }
  void barrier(const char* what) override { host_.barrier(what); }
  void all_reduce(std::span<float> values, ReduceOp op) override;
  void broadcast(std::span<float> values, int root) override;
  void all_gather(std::span<const float> mine, std::span<float> all) override;
  void all_reduce_tree(std::span<const float* const> roots, const TreePlan& plan,
                       std::span<float> sum) override;
  void reduce_scatter(std::span<const float> values, std::span<float> part) override;
  void register_memory(std::span<float> values) override { links_->register_memory(rank_, values); }
  void start_all_reduce(std::span<float> values) override;
  void finish_all_reduces() override;

 private:
  [[noreturn]] void refuse(const std::string& text);
  void after_backend();
  void before_backend();
  void enqueue_all_reduce(std::span<float> values, ReduceOp op);
  void enqueue_gather(const float* mine, float* all, const std::vector<std::size_t>& counts);
  const float* sum_slice(std::span<const float* const> roots, const TreePlan& plan, const Slices& slices);
  void exchange(std::span<const float* const> roots, const TreePlan& plan, const Slices& slices);
  float* slot(std::size_t number, const Slices& slices);
  void make_room(std::size_t floats);

  std::shared_ptr<Links> links_;
  kernels::Backend& backend_;
  Communicator& host_;
  const int rank_;
  const kernels::cuda::Queue queue_;
  const int exceptions_;  // in flight when it was made
  kernels::cuda::Stream stream_;
  kernels::cuda::Event mark_;
  kernels::Buffer room_;  // slices of all roots; grows only
  std::size_t room_floats_ = 0;
};

}  // namespace mirrorscale::strategies::nccl

#include "strategies/comm/nccl/communicator.h"

#include "kernels/cuda/order.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <utility>

namespace mirrorscale::strategies::nccl {
namespace {

/// While it lives the watchdog bounds what the rank's thread does.
class Bounded {
 public:
  Bounded(Links& links, int rank, const char* what) : links_(links), rank_(rank) {
    links_.watchdog().begin(rank, what);
  }
  ~Bounded() { links_.watchdog().end(rank_); }
  Bounded(const Bounded&) = delete;
  Bounded& operator=(const Bounded&) = delete;

 private:
  Links& links_;
  int rank_;
};

/// Every rank's numbers over the host, in rank order.
std::vector<std::uint64_t> numbers_of_all(Communicator& host, std::span<const std::uint64_t> mine) {
  const auto per_number = sizeof(std::uint64_t) / sizeof(float);
  std::vector<std::uint64_t> all(mine.size() * static_cast<std::size_t>(host.size()));
  // Floats carry the bits; nobody computes with them.
  host.all_gather({reinterpret_cast<const float*>(mine.data()), mine.size() * per_number},
                  {reinterpret_cast<float*>(all.data()), all.size() * per_number});
  return all;
}

}  // namespace

NcclCommunicator::NcclCommunicator(std::shared_ptr<Links> links, kernels::Backend& backend,
                                   Communicator& host)
    : links_(std::move(links)),
      backend_(backend),
      host_(host),
      rank_(host.rank()),
      queue_(kernels::cuda::queue_of(backend)),
      exceptions_(std::uncaught_exceptions()) {
  if (host.size() != links_->size()) {
    throw std::invalid_argument("[nccl] the group is for " + std::to_string(links_->size()) +
                                " ranks but the host's seats are " + std::to_string(host.size()));
  }
  host_.barrier("NCCL: all ranks join");
  try {
    kernels::cuda::check(cudaSetDevice(queue_.ordinal), "make a device current");
    stream_ = kernels::cuda::make_stream();
    mark_ = kernels::cuda::make_event();
    links_->open(rank_);
    links_->positions().set(rank_, stream_.get());
  } catch (const std::exception& e) {
    links_->break_up("rank " + std::to_string(rank_) + " could not join: " + e.what());
    throw;
  }
}

NcclCommunicator::~NcclCommunicator() {
  if (std::uncaught_exceptions() > exceptions_) {
    links_->break_up("rank " + std::to_string(rank_) + " failed and left");
  }
  {
    const Bounded wait(*links_, rank_, "leave the group");
    kernels::cuda::report(cudaStreamSynchronize(stream_.get()));
  }
  links_->positions().clear(rank_);
}

/// A rank that refuses must not leave the others waiting for it on their devices.
void NcclCommunicator::refuse(const std::string& text) {
  links_->break_up(text);
  throw std::invalid_argument(text);
}

void NcclCommunicator::after_backend() {
  kernels::cuda::order_after(stream_.get(), queue_.stream, mark_.get());
}
void NcclCommunicator::before_backend() {
  kernels::cuda::order_after(queue_.stream, stream_.get(), mark_.get());
}

void NcclCommunicator::enqueue_all_reduce(std::span<float> values, ReduceOp op) {
  links_->note(rank_, {op == ReduceOp::kSum ? "all_reduce" : "all_reduce to the mean", values.size(), 0});
  if (values.empty()) return links_->check(rank_);
  after_backend();
  links_->enqueue(rank_, "all_reduce", [&](ncclComm_t comm) {
    return ncclAllReduce(values.data(), values.data(), values.size(), ncclFloat,
                         op == ReduceOp::kSum ? ncclSum : ncclAvg, comm, stream_.get());
  });
}

void NcclCommunicator::all_reduce(std::span<float> values, ReduceOp op) {
  enqueue_all_reduce(values, op);
  before_backend();
}

void NcclCommunicator::start_all_reduce(std::span<float> values) {
  enqueue_all_reduce(values, ReduceOp::kSum);
}

void NcclCommunicator::finish_all_reduces() {
  links_->check(rank_);
  before_backend();
}

void NcclCommunicator::broadcast(std::span<float> values, int root) {
  if (root < 0 || root >= size()) {
    refuse("[broadcast] root is " + std::to_string(root) + "; ranks are 0 to " + std::to_string(size() - 1));
  }
  links_->note(rank_, {"broadcast", values.size(), static_cast<std::size_t>(root)});
  if (values.empty()) return links_->check(rank_);
  after_backend();
  links_->enqueue(rank_, "broadcast", [&](ncclComm_t comm) {
    return ncclBroadcast(values.data(), values.data(), values.size(), ncclFloat, root, comm, stream_.get());
  });
  before_backend();
}

void NcclCommunicator::all_gather(std::span<const float> mine, std::span<float> all) {
  links_->check(rank_);
  const std::uint64_t numbers[] = {mine.size(), all.size()};
  const auto of_all = numbers_of_all(host_, numbers);
  std::vector<std::size_t> counts;
  std::size_t total = 0;
  for (std::size_t i = 0; i < of_all.size(); i += 2) {
    counts.push_back(of_all[i]);
    total += of_all[i];
  }
  for (std::size_t r = 0; r < counts.size(); ++r) {
    if (of_all[2 * r + 1] == total) continue;
    // All ranks see this.
    throw std::invalid_argument("[all_gather] rank " + std::to_string(r) + " has room for " +
                                std::to_string(of_all[2 * r + 1]) + " values but the ranks send " +
                                std::to_string(total));
  }
  links_->note(rank_, {"all_gather", total, 0});
  if (total == 0) return;
  after_backend();
  enqueue_gather(mine.data(), all.data(), counts);
  before_backend();
}

/// Vectors one behind the other in `all`, counts[r] floats from rank r; not all counts are 0.
void NcclCommunicator::enqueue_gather(const float* mine, float* all, const std::vector<std::size_t>& counts) {
  const bool equal =
      std::all_of(counts.begin(), counts.end(), [&](auto count) { return count == counts[0]; });
  links_->enqueue(rank_, "all_gather", [&](ncclComm_t comm) {
    if (equal) return ncclAllGather(mine, all, counts[0], ncclFloat, comm, stream_.get());
    Statuses statuses;
    float* to = all;
    for (int root = 0; root < size(); ++root) {
      const std::size_t count = counts[static_cast<std::size_t>(root)];
      const float* from = root == rank_ ? mine : to;
      if (count > 0) statuses.add(ncclBroadcast(from, to, count, ncclFloat, root, comm, stream_.get()));
      to += count;
    }
    return statuses.first();
  });
}

}  // namespace mirrorscale::strategies::nccl

#include "strategies/comm/copies/communicator.h"

#include "kernels/cuda/order.h"
#include "strategies/comm/failure.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace mirrorscale::strategies::copies {

using kernels::cuda::check;

void Table::throw_if_aborted(int rank) const {
  if (!aborted.load()) return;
  const std::lock_guard lock(mutex);
  throw GroupBroken("[copies] rank " + std::to_string(rank) + " works in vain: " + why);
}

CopyCommunicator::CopyCommunicator(std::shared_ptr<Table> table, kernels::Backend& backend,
                                   Communicator& host)
    : table_(std::move(table)),
      backend_(backend),
      host_(host),
      rank_(host.rank()),
      queue_(kernels::cuda::queue_of(backend)),
      waited_(table_->entries.size(), false) {
  if (host.size() != size()) {
    throw std::invalid_argument("[copies] the group is for " + std::to_string(size()) +
                                " ranks but the host's seats are " + std::to_string(host.size()));
  }
  check(cudaSetDevice(queue_.ordinal), "make a device current");
  for (auto& mark : mine().marks) mark = kernels::cuda::make_event();
  mine().ordinal = queue_.ordinal;
  host_.barrier("copies: all ranks join");
  allow_peers();
}

/// Where the hardware can: without, copies go through the host's memory.
void CopyCommunicator::allow_peers() {
  for (const Entry& other : table_->entries) {
    int can = 0;
    if (other.ordinal == queue_.ordinal) continue;
    check(cudaDeviceCanAccessPeer(&can, queue_.ordinal, other.ordinal), "ask for peer access");
    if (!can) continue;
    const cudaError_t status = cudaDeviceEnablePeerAccess(other.ordinal, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
      static_cast<void>(cudaGetLastError());  // it stays there otherwise
    } else {
      check(status, "allow peer access");
    }
  }
}

/// Everything enqueued so far on this rank is behind its mark, for the ranks that come to the same meeting.
void CopyCommunicator::meet(const char* what) {
  table_->throw_if_aborted(rank_);
  turn_ = 1 - turn_;
  kernels::cuda::set_mark(mine().marks[static_cast<std::size_t>(turn_)].get(), queue_.stream);
  host_.barrier(what);
  std::fill(waited_.begin(), waited_.end(), false);
}

/// What this rank enqueues from now on comes after what `rank` had enqueued at the last meeting.
void CopyCommunicator::wait_for(int rank) {
  const auto index = static_cast<std::size_t>(rank);
  if (rank == rank_ || waited_[index]) return;
  waited_[index] = true;
  kernels::cuda::wait_for_mark(queue_.stream, entry(rank).marks[static_cast<std::size_t>(turn_)].get());
}

void CopyCommunicator::show(std::span<const float* const> roots, std::size_t count, std::span<float> result,
                            const char* what) {
  mine().roots.assign(roots.begin(), roots.end());
  mine().places = room_.get();
  mine().count = count;
  mine().result = result.data();
  mine().room = result.size();
  meet(what);
}

void CopyCommunicator::refuse_other_counts(const char* op, std::size_t Entry::*member) const {
  for (int r = 1; r < size(); ++r) {
    if (entry(r).*member == entry(0).*member) continue;
    throw std::invalid_argument("[" + std::string(op) + "] rank " + std::to_string(r) + " has " +
                                std::to_string(entry(r).*member) + " values but rank 0 has " +
                                std::to_string(entry(0).*member));
  }
}

void CopyCommunicator::fetch(int from_rank, const float* from, std::size_t count, float* to) {
  if (count == 0) return;
  wait_for(from_rank);
  if (from_rank == rank_) return backend_.copy(from, count, to);
  check(cudaMemcpyPeerAsync(to, queue_.ordinal, from, entry(from_rank).ordinal, count * sizeof(float),
                            queue_.stream),
        "copy between devices");
}

void CopyCommunicator::spread(int source) {
  const auto plan = spread_of(table_->ops, source, size());
  const Fetch& my = plan[static_cast<std::size_t>(rank_)];
  for (int round = 0; round < rounds_of(plan); ++round) {
    if (my.round == round) fetch(my.from, entry(my.from).result, mine().room, mine().result);
    meet("copies: spread");
  }
  // What they have read may be written again once they have.
  for (int r = 0; r < size(); ++r) {
    const Fetch& theirs = plan[static_cast<std::size_t>(r)];
    if (theirs.round >= 0 && theirs.from == rank_) wait_for(r);
  }
}

void CopyCommunicator::broadcast(std::span<float> values, int root) {
  if (root < 0 || root >= size()) {
    throw std::invalid_argument("[broadcast] root is " + std::to_string(root) + "; ranks are 0 to " +
                                std::to_string(size() - 1));
  }
  show({}, 0, values, "broadcast: start");
  refuse_other_counts("broadcast", &Entry::room);
  spread(root);
}

void CopyCommunicator::all_gather(std::span<const float> mine, std::span<float> all) {
  const float* const root[] = {mine.data()};
  show(root, mine.size(), all, "all-gather: start");
  std::size_t total = 0;
  for (int r = 0; r < size(); ++r) total += entry(r).count;
  for (int r = 0; r < size(); ++r) {
    if (entry(r).room == total) continue;
    throw std::invalid_argument("[all_gather] rank " + std::to_string(r) + " has room for " +
                                std::to_string(entry(r).room) + " values but the ranks send " +
                                std::to_string(total));
  }
  float* to = all.data();
  for (int r = 0; r < size(); ++r) {
    fetch(r, entry(r).roots[0], entry(r).count, to);
    to += entry(r).count;
  }
  meet("all-gather: everybody has read");
  for (int r = 0; r < size(); ++r) {
    if (entry(rank_).count > 0) wait_for(r);
  }
}

}  // namespace mirrorscale::strategies::copies

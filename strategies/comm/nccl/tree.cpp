// Sums in the order of a tree: every rank gets its slice of all roots, adds them up in the plan's order on
// its own backend, and the sums of the slices go to whoever needs them. A rank sends and receives what a ring
// would.
#include "strategies/comm/copies/tree_plan.h"
#include "strategies/comm/nccl/communicator.h"

#include <numeric>

namespace mirrorscale::strategies::nccl {
void NcclCommunicator::all_reduce_tree(std::span<const float* const> roots, const TreePlan& plan,
                                       std::span<float> sum) {
  if (static_cast<int>(plan.roots.size()) != size() ||
      static_cast<int>(roots.size()) != plan.roots[static_cast<std::size_t>(rank_)]) {
    refuse("[all_reduce_tree] rank " + std::to_string(rank_) + " brings " + std::to_string(roots.size()) +
           " roots; the plan is for other numbers");
  }
  if (const std::string fault = fault_of(plan); !fault.empty()) refuse("[all_reduce_tree] " + fault);
  links_->note(rank_, {"all_reduce_tree", sum.size(), leaves_of(plan)});
  if (sum.empty()) return links_->check(rank_);
  const Slices slices = slices_of(sum.size(), size());
  const float* mine = sum_slice(roots, plan, slices);
  std::vector<std::size_t> counts;
  for (int r = 0; r < size(); ++r) counts.push_back(slices.count(r));
  after_backend();
  enqueue_gather(mine, sum.data(), counts);
  before_backend();
}

void NcclCommunicator::reduce_scatter(std::span<const float> values, std::span<float> part) {
  const auto ranks = static_cast<std::size_t>(size());
  if (values.size() != part.size() * ranks) {
    refuse("[reduce_scatter] rank " + std::to_string(rank_) + " has " + std::to_string(values.size()) +
           " values for parts of " + std::to_string(part.size()) + "; " + std::to_string(ranks) +
           " parts must make up all of them");
  }
  links_->note(rank_, {"reduce_scatter", values.size(), 0});
  if (values.empty()) return links_->check(rank_);
  const float* const root[] = {values.data()};
  const float* mine = sum_slice(root, tree_over_ranks(size()), {values.size(), part.size()});
  backend_.copy(mine, part.size(), part.data());
}

/// This rank's slice of the sum, in memory of its own; enqueued on the backend.
const float* NcclCommunicator::sum_slice(std::span<const float* const> roots, const TreePlan& plan,
                                         const Slices& slices) {
  const std::size_t leaves = leaves_of(plan);
  make_room(leaves * whole_units(slices.width));
  exchange(roots, plan, slices);
  std::vector<float*> operands;
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) operands.push_back(slot(leaf, slices));
  for (const TreePlan::Pair& pair : plan.additions) {
    float* left = operands[static_cast<std::size_t>(pair.left)];
    const float* right = operands[static_cast<std::size_t>(pair.right)];
    // Up to the end of the last unit, where anything may be: the places are whole units.
    const std::size_t count = whole_units(slices.count(rank_));
    if (count > 0) backend_.add(count, left, right, left);
    operands.push_back(left);
  }
  return operands.back();
}

/// Every root's slice of this rank comes to its place; ops of the backend that follow find it there.
void NcclCommunicator::exchange(std::span<const float* const> roots, const TreePlan& plan,
                                const Slices& slices) {
  const std::size_t first = slices.first(rank_), count = slices.count(rank_);
  after_backend();
  links_->enqueue(rank_, "exchange of slices", [&](ncclComm_t comm) {
    Statuses statuses;
    std::size_t leaf = 0;
    for (int peer = 0; peer < size(); ++peer) {
      const auto theirs = static_cast<std::size_t>(plan.roots[static_cast<std::size_t>(peer)]);
      for (std::size_t i = 0; peer != rank_ && count > 0 && i < theirs; ++i) {
        statuses.add(ncclRecv(slot(leaf + i, slices), count, ncclFloat, peer, comm, stream_.get()));
      }
      leaf += theirs;
      for (const float* root : roots) {
        if (peer == rank_ || slices.count(peer) == 0) continue;
        statuses.add(
            ncclSend(root + slices.first(peer), slices.count(peer), ncclFloat, peer, comm, stream_.get()));
      }
    }
    return statuses.first();
  });
  auto leaf = static_cast<std::size_t>(std::accumulate(plan.roots.begin(), plan.roots.begin() + rank_, 0));
  for (const float* root : roots) {
    if (count > 0) backend_.copy(root + first, count, slot(leaf++, slices));
  }
  before_backend();
}

float* NcclCommunicator::slot(std::size_t number, const Slices& slices) {
  return room_.get() + number * whole_units(slices.width);
}

void NcclCommunicator::make_room(std::size_t floats) {
  if (floats <= room_floats_) return;
  // Giving memory back may wait for the device.
  links_->watchdog().begin(rank_, "make room for the sums of slices");
  room_ = {};
  room_floats_ = 0;
  try {
    room_ = backend_.make_buffer(floats);
    room_floats_ = floats;
  } catch (const std::exception& e) {
    links_->watchdog().end(rank_);
    links_->break_up("rank " + std::to_string(rank_) + " failed: " + e.what());
    throw;
  }
  links_->watchdog().end(rank_);
}

}  // namespace mirrorscale::strategies::nccl

#include "strategies/comm/nccl/positions.h"

#include "kernels/cuda/order.h"

#include <algorithm>

namespace mirrorscale::strategies::nccl {
namespace {

/// "rank 1", "ranks 0, 2"
std::string in_words(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return text;
}

bool is_done(const kernels::cuda::Event& mark) {
  return cudaEventQuery(mark.get()) == cudaSuccess;
}

}  // namespace

void Positions::set(int rank, cudaStream_t stream) {
  Rank made;
  made.stream = stream;
  for (std::uint64_t i = 0; i < kKept; ++i) {
    made.before.push_back(kernels::cuda::make_event());
    made.after.push_back(kernels::cuda::make_event());
  }
  const std::lock_guard lock(mutex_);
  ranks_[static_cast<std::size_t>(rank)] = std::move(made);
}

void Positions::clear(int rank) noexcept {
  const std::lock_guard lock(mutex_);
  Rank& mine = ranks_[static_cast<std::size_t>(rank)];
  mine = {};
  mine.left = true;
}

void Positions::before(int rank) {
  const std::lock_guard lock(mutex_);
  Rank& mine = ranks_[static_cast<std::size_t>(rank)];
  kernels::cuda::set_mark(mine.before[mine.begun++ % kKept].get(), mine.stream);
}

void Positions::after(int rank) {
  const std::lock_guard lock(mutex_);
  Rank& mine = ranks_[static_cast<std::size_t>(rank)];
  kernels::cuda::set_mark(mine.after[mine.enqueued++ % kKept].get(), mine.stream);
}

void Positions::require_device(int rank) const {
  const std::lock_guard lock(mutex_);
  const Rank& mine = ranks_[static_cast<std::size_t>(rank)];
  if (mine.stream) kernels::cuda::require_device(cudaStreamQuery(mine.stream), "go on with collectives");
}

std::optional<Positions::Place> Positions::place_of(const Rank& rank) {
  for (std::uint64_t k = rank.begun - std::min(rank.begun, kKept); k < rank.begun; ++k) {
    if (!is_done(rank.before[k % kKept])) return Place{k, false};
    if (k >= rank.enqueued || !is_done(rank.after[k % kKept])) return Place{k, true};
  }
  return {};
}

std::string Positions::text() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::optional<Place>> places;
  std::optional<std::uint64_t> first;  // collective that isn't finished
  for (const Rank& rank : ranks_) {
    places.push_back(place_of(rank));
    if (places.back()) first = std::min(first.value_or(places.back()->collective), places.back()->collective);
  }
  if (!first) return "";
  std::vector<int> absent, inside, done;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (!ranks_[r].stream && !ranks_[r].left) continue;  // of another process
    const bool beyond = !places[r] || places[r]->collective > *first;
    (beyond ? done : places[r]->inside ? inside : absent).push_back(static_cast<int>(r));
  }
  const std::string which = " collective " + std::to_string(*first + 1);
  if (!absent.empty()) {
    return "the device of " + in_words(absent) + " has not come to" + which +
           ": work enqueued before is not finished";
  }
  if (done.empty()) return "";
  return "the device of " + in_words(done) + " is done with its part of" + which + ", while that of " +
         in_words(inside) + " waits";
}

}  // namespace mirrorscale::strategies::nccl

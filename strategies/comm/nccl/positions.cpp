#include "strategies/comm/nccl/positions.h"

namespace mirrorscale::strategies::nccl {
namespace {

/// "rank 1", "ranks 0, 2"
std::string in_words(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return text;
}

}  // namespace

void Positions::set(int rank, cudaStream_t stream, cudaEvent_t before) {
  const std::lock_guard lock(mutex_);
  ranks_[static_cast<std::size_t>(rank)] = {stream, before, false};
}

void Positions::clear(int rank) noexcept {
  const std::lock_guard lock(mutex_);
  ranks_[static_cast<std::size_t>(rank)] = {{}, {}, true};
}

void Positions::require_device(int rank) const {
  const std::lock_guard lock(mutex_);
  const Position& position = ranks_[static_cast<std::size_t>(rank)];
  if (!position.stream) return;
  kernels::cuda::require_device(cudaStreamQuery(position.stream), "go on with collectives");
}

std::string Positions::text() const {
  const std::lock_guard lock(mutex_);
  std::vector<int> absent, inside, done;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const auto rank = static_cast<int>(r);
    if (ranks_[r].left) {
      done.push_back(rank);
    } else if (!ranks_[r].stream) {
      continue;
    } else if (cudaEventQuery(ranks_[r].before) == cudaErrorNotReady) {
      absent.push_back(rank);
    } else if (cudaStreamQuery(ranks_[r].stream) == cudaErrorNotReady) {
      inside.push_back(rank);
    } else {
      done.push_back(rank);
    }
  }
  if (!absent.empty()) {
    return "the device of " + in_words(absent) + " has not come to it: work enqueued before is not finished";
  }
  if (inside.empty() || done.empty()) return "";
  return "the device of " + in_words(done) + " is done with its part, while that of " + in_words(inside) +
         " waits";
}

}  // namespace mirrorscale::strategies::nccl

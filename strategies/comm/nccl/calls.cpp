#include "strategies/comm/nccl/calls.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace mirrorscale::strategies::nccl {

void Calls::join(int rank) {
  const std::lock_guard lock(mutex_);
  joined_[static_cast<std::size_t>(rank)] = true;
}

void Calls::note(int rank, const Call& call) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = called_[static_cast<std::size_t>(rank)]++;
  if (number - first_ == noted_.size()) noted_.push_back({call, rank});
  const Noted& noted = noted_[number - first_];
  const Call& theirs = noted.call;
  if (std::string_view(theirs.op) != call.op || theirs.count != call.count || theirs.detail != call.detail) {
    throw std::invalid_argument(
        "[" + std::string(call.op) + "] rank " + std::to_string(rank) + " calls " + call.text() + " (" +
        std::to_string(call.detail) + ") but rank " + std::to_string(noted.rank) + " calls " + theirs.text() +
        " (" + std::to_string(theirs.detail) + ") as collective " + std::to_string(number + 1));
  }
  auto least = number + 1;
  for (std::size_t r = 0; r < called_.size(); ++r) {
    if (joined_[r]) least = std::min(least, called_[r]);
  }
  for (; first_ < least; ++first_) noted_.pop_front();
}

std::string Calls::absent() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (std::size_t r = 0; r < joined_.size(); ++r) {
    if (!joined_[r]) text += (text.empty() ? "rank " : ", rank ") + std::to_string(r);
  }
  if (text.empty()) return "every rank came to join NCCL, which has not connected them";
  return text + " did not come, in this process, to join NCCL";
}

std::string Calls::late() const {
  const std::lock_guard lock(mutex_);
  const auto most = *std::max_element(called_.begin(), called_.end());
  std::string text;
  for (std::size_t r = 0; r < called_.size(); ++r) {
    if (!joined_[r] || called_[r] == most) continue;
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(r) + " did not call " +
            noted_[called_[r] - first_].call.text() + " (collective " + std::to_string(called_[r] + 1) + ")";
  }
  return text;
}

}  // namespace mirrorscale::strategies::nccl

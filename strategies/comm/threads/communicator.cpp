#include "strategies/comm/threads/communicator.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <string>

namespace mirrorscale::strategies {
namespace {

constexpr std::size_t kChunk = 256;  // floats summed at a time, so that partial sums stay in L1

[[noreturn]] void refuse(const std::string& text) {
  throw std::invalid_argument(text);
}

/// The binary tree over ranks: level by level, left with its right neighbour.
void tree_over_ranks(std::vector<std::vector<float>>& values) {
  for (std::size_t step = 1; step < values.size(); step *= 2) {
    for (std::size_t left = 0; left + step < values.size(); left += 2 * step) {
      std::transform(values[left].begin(), values[left].end(), values[left + step].begin(),
                     values[left].begin(), [](float a, float b) { return a + b; });
    }
  }
}

}  // namespace

// After a rank has shown memory it must not leave before the others have read it, not even by an exception.
// So what is refused after `show` is what every rank sees and refuses.
void ThreadCommunicator::show(const ThreadGroup::Shown& mine, const char* what) {
  group_.shown[static_cast<std::size_t>(rank_)] = mine;
  barrier(what);
}

void ThreadCommunicator::all_reduce(std::span<float> values, ReduceOp op) {
  show({values.data(), values.size(), values.size()}, "all-reduce: start");
  for (int r = 0; r < size(); ++r) {
    const std::size_t theirs = group_.shown[static_cast<std::size_t>(r)].count;
    if (theirs != values.size()) {
      refuse("[all_reduce] rank " + std::to_string(rank_) + " has " + std::to_string(values.size()) +
             " values but rank " + std::to_string(r) + " has " + std::to_string(theirs));
    }
  }
  std::vector<std::vector<float>> copies;
  for (const auto& shown : group_.shown) {
    const auto* p = static_cast<const float*>(shown.pointer);
    copies.emplace_back(p, p + shown.count);
  }
  tree_over_ranks(copies);
  if (op == ReduceOp::kMean) {
    for (float& v : copies[0]) v /= static_cast<float>(size());
  }
  barrier("all-reduce: everybody has read");
  std::copy(copies[0].begin(), copies[0].end(), values.begin());
}

void ThreadCommunicator::broadcast(std::span<float> values, int root) {
  if (root < 0 || root >= size()) {
    refuse("[broadcast] root is " + std::to_string(root) + "; ranks are 0 to " + std::to_string(size() - 1));
  }
  show({values.data(), values.size(), values.size()}, "broadcast: start");
  const auto& from = group_.shown[static_cast<std::size_t>(root)];
  if (from.count != values.size()) {
    refuse("[broadcast] rank " + std::to_string(rank_) + " expects " + std::to_string(values.size()) +
           " values but root " + std::to_string(root) + " sends " + std::to_string(from.count));
  }
  if (rank_ != root) std::copy_n(static_cast<const float*>(from.pointer), from.count, values.begin());
  barrier("broadcast: everybody has read");
}

void ThreadCommunicator::all_gather(std::span<const float> mine, std::span<float> all) {
  show({mine.data(), mine.size(), all.size()}, "all-gather: start");
  const std::size_t total = std::accumulate(group_.shown.begin(), group_.shown.end(), std::size_t{0},
                                            [](std::size_t sum, const auto& s) { return sum + s.count; });
  for (int r = 0; r < size(); ++r) {
    const std::size_t room = group_.shown[static_cast<std::size_t>(r)].room;
    if (room == total) continue;
    refuse("[all_gather] rank " + std::to_string(r) + " has room for " + std::to_string(room) +
           " values but the ranks send " + std::to_string(total));
  }
  auto to = all.begin();
  for (const auto& shown : group_.shown)
    to = std::copy_n(static_cast<const float*>(shown.pointer), shown.count, to);
  barrier("all-gather: everybody has read");
}

void ThreadCommunicator::all_reduce_tree(std::span<const float* const> roots, const TreePlan& plan,
                                         std::span<float> sum) {
  if (static_cast<int>(plan.roots.size()) != size() ||
      static_cast<int>(roots.size()) != plan.roots[static_cast<std::size_t>(rank_)]) {
    refuse("[all_reduce_tree] rank " + std::to_string(rank_) + " brings " + std::to_string(roots.size()) +
           " roots; the plan is for other numbers");
  }
  show({roots.data(), roots.size(), sum.size()}, "tree: start");
  for (int r = 0; r < size(); ++r) {
    const std::size_t theirs = group_.shown[static_cast<std::size_t>(r)].room;
    if (theirs != sum.size()) {
      refuse("[all_reduce_tree] rank " + std::to_string(rank_) + " sums " + std::to_string(sum.size()) +
             " values but rank " + std::to_string(r) + " sums " + std::to_string(theirs));
    }
  }
  std::vector<const float*> operands;
  for (const auto& shown : group_.shown) {
    const auto* theirs = static_cast<const float* const*>(shown.pointer);
    operands.insert(operands.end(), theirs, theirs + shown.count);
  }
  const std::size_t leaves = operands.size();
  if (leaves == 0) refuse("[all_reduce_tree] no rank brings a root");
  std::vector<float> partial(plan.additions.size() * kChunk);
  for (std::size_t at = 0; at < sum.size(); at += kChunk) {
    const std::size_t count = std::min(kChunk, sum.size() - at);
    const auto operand = [&](int i) {
      const auto index = static_cast<std::size_t>(i);
      return index < leaves ? operands[index] + at : partial.data() + (index - leaves) * kChunk;
    };
    for (std::size_t i = 0; i < plan.additions.size(); ++i) {
      const float* left = operand(plan.additions[i].left);
      const float* right = operand(plan.additions[i].right);
      float* out = partial.data() + i * kChunk;
      for (std::size_t k = 0; k < count; ++k) out[k] = left[k] + right[k];
    }
    const auto last = static_cast<int>(leaves + plan.additions.size()) - 1;
    std::copy_n(operand(plan.additions.empty() ? 0 : last), count,
                sum.begin() + static_cast<std::ptrdiff_t>(at));
  }
  barrier("tree: everybody has read");
}

void ThreadCommunicator::reduce_scatter(std::span<const float> values, std::span<float> part) {
  show({values.data(), values.size(), part.size()}, "reduce-scatter: start");
  for (int r = 0; r < size(); ++r) {
    const auto& theirs = group_.shown[static_cast<std::size_t>(r)];
    if (theirs.count == values.size() && theirs.room * group_.shown.size() == values.size()) continue;
    refuse("[reduce_scatter] rank " + std::to_string(r) + " has " + std::to_string(theirs.count) +
           " values for parts of " + std::to_string(theirs.room) + "; rank " + std::to_string(rank_) +
           " has " + std::to_string(values.size()) + " values, and " + std::to_string(size()) +
           " parts must make up all of them");
  }
  std::vector<std::vector<float>> copies;
  for (const auto& shown : group_.shown) {
    const auto* p = static_cast<const float*>(shown.pointer) + static_cast<std::size_t>(rank_) * part.size();
    copies.emplace_back(p, p + part.size());
  }
  tree_over_ranks(copies);
  barrier("reduce-scatter: everybody has read");
  std::copy(copies[0].begin(), copies[0].end(), part.begin());
}

}  // namespace mirrorscale::strategies

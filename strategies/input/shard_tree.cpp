#include "strategies/input/shard_tree.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace mirrorscale::strategies {
namespace {

constexpr int kFewestRowsToGroup = 32;  // below, every row is a leaf
constexpr int kLeavesWanted = 16;
constexpr int kSmallestGroup = 4;
constexpr int kLargestGroup = 32;

void require(bool good, const char* op, const char* what, int found, const char* expected) {
  if (good) return;
  throw std::invalid_argument("[" + std::string(op) + "] " + what + " is " + std::to_string(found) +
                              "; expected " + expected);
}

/// Leaves of the largest subtree that begins at leaf `at` and ends at or before `last`.
int subtree_size(int at, int last, int total) {
  std::int64_t size = 1;
  while (size < total && at % (2 * size) == 0 && std::min<std::int64_t>(at + 2 * size, total) <= last)
    size *= 2;
  return static_cast<int>(std::min<std::int64_t>(size, total - at));
}

/// subtree_roots({first, last - first}, total).size(), for first < last, without making them.
int count_roots(int first, int last, int total) {
  if (last == total) {
    // Only steps upwards are left: each subtree is as large as the alignment of its first leaf allows.
    int count = 1;
    for (std::int64_t at = first; at != 0 && (at += at & -at) < total;) ++count;
    return count;
  }
  // `middle`: the most aligned cut inside. Subtrees before it grow by the bits of the way to it, subtrees
  // after it shrink by the bits of the rest.
  const auto begin = static_cast<unsigned>(first), end = static_cast<unsigned>(last);
  const auto level = static_cast<int>(std::bit_width(begin ^ end)) - 1;
  const unsigned middle = (end >> level) << level;
  return std::popcount(middle - begin) + std::popcount(end - middle);
}

/// Chooses the cuts from the back: least[r][i] is the fewest roots of replicas r .. last when replica r
/// begins at the i-th place it may begin at. As nobody may have more than `most`, there are only most *
/// replicas - total + 1 such places, fewer than replicas, whatever the number of leaves.
class FewestRoots {
 public:
  FewestRoots(int total, int replicas)
      : total_(total),
        replicas_(replicas),
        most_((total - 1) / replicas + 1),
        least_(static_cast<std::size_t>(replicas) + 1) {
    for (int r = replicas_; r >= 0; --r) {
      for (int begin = lowest(r); begin <= highest(r); ++begin) {
        least_[static_cast<std::size_t>(r)].push_back(r == replicas_ ? 0 : best_from(r, begin).roots);
      }
    }
  }

  /// Of equal choices always the largest next part.
  std::vector<Range> cuts() const {
    std::vector<Range> parts;
    for (int r = 0, begin = 0; r < replicas_; ++r) {
      const int end = best_from(r, begin).end;
      parts.push_back({begin, end - begin});
      begin = end;
    }
    return parts;
  }

 private:
  struct Choice {
    int roots = std::numeric_limits<int>::max();
    int end = 0;
  };

  /// Where replica r may begin: everyone before and after it can still have 1 .. most_ leaves.
  int lowest(int r) const {
    return static_cast<int>(std::max<std::int64_t>(r, total_ - std::int64_t{replicas_ - r} * most_));
  }
  int highest(int r) const {
    return static_cast<int>(std::min<std::int64_t>(std::int64_t{r} * most_, total_ - (replicas_ - r)));
  }

  Choice best_from(int r, int begin) const {
    Choice best;
    const auto& rest = least_[static_cast<std::size_t>(r) + 1];
    const int first_end = std::max(begin + 1, lowest(r + 1)),
              last_end = std::min(begin + most_, highest(r + 1));
    for (int end = last_end; end >= first_end; --end) {
      const int roots = count_roots(begin, end, total_) + rest[static_cast<std::size_t>(end - lowest(r + 1))];
      if (roots < best.roots) best = {roots, end};
    }
    return best;
  }

  int total_, replicas_, most_;
  std::vector<std::vector<int>> least_;
};

/// Walks the tree from the top; its leaves are met in order, so the roots are too.
class Completion {
 public:
  Completion(const std::vector<Range>& roots, int total) : roots_(roots), total_(total) {}

  std::vector<Addition> additions() {
    node(0, std::bit_ceil(static_cast<std::uint64_t>(total_)));
    if (next_ != roots_.size()) refuse();
    return std::move(additions_);
  }

 private:
  [[noreturn]] void refuse() const {
    const std::string found = next_ < roots_.size() ? "leaves " + std::to_string(roots_[next_].first) +
                                                          " .. " + std::to_string(roots_[next_].last() - 1)
                                                    : "the end of the roots";
    throw std::invalid_argument("[completion] found " + found + " as root " + std::to_string(next_) + " of " +
                                std::to_string(total_) +
                                " leaves; expected whole subtrees that cover all leaves in order");
  }

  /// The operand that holds the subtree of `size` leaves from `first` < total_ on.
  int node(std::int64_t first, std::uint64_t size) {
    const auto count = std::min(static_cast<std::int64_t>(size), total_ - first);
    if (next_ < roots_.size() && roots_[next_].first == first && roots_[next_].count == count) {
      return static_cast<int>(next_++);
    }
    if (size == 1) refuse();
    const auto half = static_cast<std::int64_t>(size / 2);
    const int left = node(first, size / 2);
    if (first + half >= total_) return left;
    const int right = node(first + half, size / 2);
    additions_.push_back({left, right});
    return static_cast<int>(roots_.size() + additions_.size()) - 1;
  }

  const std::vector<Range>& roots_;
  int total_;
  std::size_t next_ = 0;
  std::vector<Addition> additions_;
};

}  // namespace

int micro_shard_rows(int full_batch) {
  require(full_batch >= 1, "micro_shard_rows", "the batch", full_batch, "1 row or more");
  if (full_batch < kFewestRowsToGroup) return 1;
  const auto wanted = std::bit_floor(static_cast<unsigned>(full_batch) / unsigned{kLeavesWanted});
  return static_cast<int>(std::clamp<unsigned>(wanted, kSmallestGroup, kLargestGroup));
}

std::vector<Range> subtree_roots(Range leaves, int total) {
  if (leaves.first < 0 || leaves.count < 0 || leaves.first > total - leaves.count) {
    throw std::invalid_argument("[subtree_roots] leaves " + std::to_string(leaves.first) + " + " +
                                std::to_string(leaves.count) + " do not lie within " + std::to_string(total));
  }
  std::vector<Range> roots;
  for (int at = leaves.first; at < leaves.last(); at = roots.back().last()) {
    roots.push_back({at, subtree_size(at, leaves.last(), total)});
  }
  return roots;
}

std::vector<Range> cut_leaves(int total, int replicas) {
  require(total >= 0, "cut_leaves", "the number of leaves", total, "0 or more");
  require(replicas >= 1, "cut_leaves", "the number of replicas", replicas, "1 or more");
  return total > replicas ? FewestRoots(total, replicas).cuts() : split_evenly(total, replicas);
}

std::vector<Addition> completion(const std::vector<Range>& roots, int total) {
  require(total >= 1, "completion", "the number of leaves", total, "1 or more");
  return Completion(roots, total).additions();
}

BatchPlan plan_batch(int rows, int full_batch, int replicas) {
  require(rows >= 1, "plan_batch", "the number of rows", rows, "1 or more");
  require(replicas >= 1, "plan_batch", "the number of replicas", replicas, "1 or more");
  if (rows > full_batch) {
    throw std::invalid_argument("[plan_batch] " + std::to_string(rows) + " rows do not fit a full batch of " +
                                std::to_string(full_batch));
  }
  BatchPlan plan;
  plan.rows = rows;
  plan.shard_rows = micro_shard_rows(full_batch);
  const int leaves = (rows - 1) / plan.shard_rows + 1;
  const auto row_of = [&](int leaf) {
    return static_cast<int>(std::min<std::int64_t>(std::int64_t{leaf} * plan.shard_rows, rows));
  };
  const auto to_rows = [&](Range range) {
    return Range{row_of(range.first), row_of(range.last()) - row_of(range.first)};
  };
  std::vector<Range> all_roots;
  for (const Range& share : cut_leaves(leaves, replicas)) {
    BatchPlan::Share& made = plan.shares.emplace_back(BatchPlan::Share{to_rows(share), {}});
    for (const Range& root : subtree_roots(share, leaves)) {
      made.roots.push_back(to_rows(root));
      all_roots.push_back(root);
    }
  }
  plan.additions = completion(all_roots, leaves);
  return plan;
}

std::vector<Range> split_evenly(int rows, int replicas) {
  require(rows >= 0, "split_evenly", "the number of rows", rows, "0 or more");
  require(replicas >= 1, "split_evenly", "the number of replicas", replicas, "1 or more");
  std::vector<Range> parts;
  const int each = rows / replicas, larger = rows % replicas;
  for (int r = 0, first = 0; r < replicas; ++r) {
    parts.push_back({first, each + (r < larger ? 1 : 0)});
    first = parts.back().last();
  }
  return parts;
}

}  // namespace mirrorscale::strategies

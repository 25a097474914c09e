#include "strategies/input/accumulation.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace mirrorscale::strategies {
namespace {

/// A finished subtree of a root: leaves of the root, and where its sum is.
struct Node {
  Range leaves;
  int arena = 0;
};

/// Whether `right` is the right child beside `left` in the tree over `total` leaves.
bool siblings(const Node& left, const Node& right, int total) {
  const int size = left.leaves.count;
  return left.leaves.first % (2 * size) == 0 &&
         right.leaves.count == std::min(size, total - right.leaves.first);
}

class ShareCutter {
 public:
  ShareCutter(const BatchPlan::Share& share, int shard_rows, bool whole)
      : share_(share), shard_rows_(whole ? 1 : shard_rows), whole_(whole) {
    plan_.arenas = whole ? 1 : static_cast<int>(share.roots.size());
  }

  PiecePlan cut(int pieces) {
    const int leaves = (share_.rows.count + shard_rows_ - 1) / shard_rows_;
    for (int p = 0; p < pieces; ++p) {
      const auto at = [&](int i) { return static_cast<int>(std::int64_t{leaves} * i / pieces); };
      if (at(p) == at(p + 1)) continue;
      const int first = at(p) * shard_rows_, last = std::min(at(p + 1) * shard_rows_, share_.rows.count);
      Piece piece{.rows = {first, last - first}, .roots = {}, .additions = {}};
      if (whole_) {
        add_whole(piece);
      } else {
        for (std::size_t r = 0; r < share_.roots.size(); ++r) add_root(piece, static_cast<int>(r));
      }
      free_.insert(free_.end(), freed_.begin(), freed_.end());
      freed_.clear();
      plan_.most_rows = std::max(plan_.most_rows, piece.rows.count);
      plan_.most_roots = std::max(plan_.most_roots, static_cast<int>(piece.roots.size()));
      plan_.pieces.push_back(std::move(piece));
    }
    return std::move(plan_);
  }

 private:
  void add_whole(Piece& piece) {
    const bool first = piece.rows.first == 0;
    const int arena = first ? 0 : spare();
    piece.roots.push_back({{0, piece.rows.count}, arena});
    if (first) return;
    piece.additions.push_back({0, arena});
    freed_.push_back(arena);
  }

  /// The part of root r that lies in the piece.
  void add_root(Piece& piece, int r) {
    const Range& root = share_.roots[static_cast<std::size_t>(r)];
    const int begin = root.first - share_.rows.first;  // in the share
    const int from = std::max(begin, piece.rows.first), to = std::min(begin + root.count, piece.rows.last());
    if (from >= to) return;
    const int total = (root.count + shard_rows_ - 1) / shard_rows_;
    const int first = (from - begin) / shard_rows_, last = (to - begin + shard_rows_ - 1) / shard_rows_;
    if (first == 0) nodes_.clear();
    for (const Range& leaves : subtree_roots({first, last - first}, total)) {
      const int row = begin + leaves.first * shard_rows_;
      const int rows = std::min(leaves.count * shard_rows_, begin + root.count - row);
      const int arena = leaves.first == 0 ? r : spare();
      piece.roots.push_back({{row - piece.rows.first, rows}, arena});
      nodes_.push_back({leaves, arena});
      while (nodes_.size() > 1 && siblings(nodes_[nodes_.size() - 2], nodes_.back(), total)) {
        const Node right = nodes_.back();
        nodes_.pop_back();
        piece.additions.push_back({nodes_.back().arena, right.arena});
        nodes_.back().leaves.count += right.leaves.count;
        freed_.push_back(right.arena);
      }
    }
  }

  int spare() {
    if (free_.empty()) return plan_.arenas++;
    const int arena = free_.back();
    free_.pop_back();
    return arena;
  }

  const BatchPlan::Share& share_;
  const int shard_rows_;
  const bool whole_;
  PiecePlan plan_;
  std::vector<Node> nodes_;        // of the root at hand: finished, not yet added to each other
  std::vector<int> free_, freed_;  // arenas; those of the piece at hand are free after it
};

}  // namespace

PiecePlan cut_share(const BatchPlan::Share& share, int shard_rows, int pieces, bool whole) {
  if (pieces < 1) {
    throw std::invalid_argument("[accumulation] " + std::to_string(pieces) +
                                " pieces of a batch; needs at least 1");
  }
  return ShareCutter(share, shard_rows, whole).cut(pieces);
}

}  // namespace mirrorscale::strategies

#pragma once
#include <vector>

namespace mirrorscale::strategies {

/// Consecutive rows (or leaves): first .. first + count - 1.
struct Range {
  int first = 0, count = 0;
  int last() const { return first + count; }
  bool operator==(const Range&) const = default;
};

/// Rows of a micro-shard, from the rows of a full optimizer step alone: 1 below 32 rows, else
/// clamp(floor_pow2(batch / 16), 4, 32). A short last batch keeps the S of the full batch.
int micro_shard_rows(int full_batch);

/// The largest subtrees inside `leaves`, in leaf order. A subtree cut short by the end of the batch (`total`
/// leaves) is whole.
std::vector<Range> subtree_roots(Range leaves, int total);

/// Cuts `total` leaves for `replicas`: nobody gets more than ceil(total / replicas); nobody is left empty
/// while there are enough leaves (else the last ones are); within that the number of subtree roots is least,
/// and of equals the one whose first parts are larger.
std::vector<Range> cut_leaves(int total, int replicas);

/// One addition that is left once every root is there. Operand i < roots is root i, else the result of
/// addition i - roots.
struct Addition {
  int left = 0, right = 0;
  bool operator==(const Addition&) const = default;
};
/// The rest of the binary tree above `roots` (leaf ranges that cover 0 .. total - 1 in order). The sum is the
/// result of the last addition, or root 0 if there is none.
std::vector<Addition> completion(const std::vector<Range>& roots, int total);

/// How one global batch of training rows is shared out.
struct BatchPlan {
  int rows = 0;        // rows of this batch
  int shard_rows = 1;  // S
  struct Share {
    Range rows;                // of the batch
    std::vector<Range> roots;  // rows of each subtree root, relative to the batch, in order
  };
  std::vector<Share> shares;        // one a replica
  std::vector<Addition> additions;  // over all roots, replica by replica
};

/// `rows` <= `full_batch`. Throws std::invalid_argument for rows < 1 or replicas < 1.
BatchPlan plan_batch(int rows, int full_batch, int replicas);

/// Rows of each replica in predict and evaluate: consecutive, sizes differ by at most one, larger ones first.
std::vector<Range> split_evenly(int rows, int replicas);

}  // namespace mirrorscale::strategies

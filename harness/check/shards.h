#pragma once
#include "harness/check/verdict.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace mirrorscale::harness {

/// Consecutive rows first .. first + count - 1.
struct RowRange {
  std::int64_t first = 0, count = 0;
  bool operator==(const RowRange&) const = default;
};

struct ShardRule {
  /// Rows are handed out in leaves of so many rows; a range starts on a leaf, and ends on one or at the
  /// batch's end.
  std::int64_t leaf_rows = 1;
  /// Where sizes must not differ by more (predict and evaluate: 1).
  std::optional<std::int64_t> largest_difference_rows = {};
};

/// SHD for one batch: the ranges, in replica order, cover rows 0 .. rows - 1 in order without gap or overlap;
/// nobody has more than ceil(leaves / replicas) leaves; nobody is empty while there are at least as many
/// leaves as replicas, and with fewer nobody has two.
Verdict check_shards(std::int64_t rows, std::span<const RowRange> shards, const ShardRule& rule = {});

using Sharding = std::function<std::vector<RowRange>(std::int64_t rows, int replicas)>;
using ShardRules = std::function<ShardRule(std::int64_t rows)>;

/// SHD for every batch of 1 .. 2 * replicas + 1 rows, and for each of `more_rows`. A sharder that throws
/// fails.
Verdict check_sharding(int replicas, const Sharding& sharding, const ShardRules& rules = {},
                       std::span<const std::int64_t> more_rows = {});

}  // namespace mirrorscale::harness

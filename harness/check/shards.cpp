#include "harness/check/shards.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <stdexcept>
#include <string>

namespace mirrorscale::harness {
namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

std::string describe(std::span<const RowRange> shards) {
  std::string text;
  for (const RowRange& shard : shards) {
    text += fmt::format("{}{}+{}", text.empty() ? "" : " ", shard.first, shard.count);
  }
  return text.empty() ? "none" : text;
}

/// What is wrong with the shards, in words; empty when nothing is.
std::string fault_in(std::int64_t rows, std::span<const RowRange> shards, const ShardRule& rule) {
  const auto replicas = static_cast<std::int64_t>(shards.size());
  const std::int64_t leaves = ceil_divide(rows, rule.leaf_rows);
  const std::int64_t most = ceil_divide(leaves, replicas);
  std::int64_t next = 0, smallest = rows, largest = 0;
  for (std::int64_t r = 0; r < replicas; ++r) {
    const RowRange& shard = shards[static_cast<std::size_t>(r)];
    if (shard.count < 0) return fmt::format("replica {} gets {} rows", r, shard.count);
    smallest = std::min(smallest, shard.count);
    largest = std::max(largest, shard.count);
    if (shard.count == 0) {
      if (leaves >= replicas)
        return fmt::format("replica {} gets no rows, though there are {} leaves", r, leaves);
      continue;  // where an empty range starts means nothing
    }
    if (shard.first > next) return fmt::format("rows {} to {} go to nobody", next, shard.first - 1);
    if (shard.first < next)
      return fmt::format("row {} goes to replica {} as well as to one before it", shard.first, r);
    next = shard.first + shard.count;
    if (next > rows) return fmt::format("replica {} gets row {}, past the end of the batch", r, next - 1);
    if (shard.first % rule.leaf_rows != 0 || (next % rule.leaf_rows != 0 && next != rows)) {
      return fmt::format("replica {} gets rows {} to {}, which cuts a leaf of {} rows", r, shard.first,
                         next - 1, rule.leaf_rows);
    }
    const std::int64_t mine = ceil_divide(shard.count, rule.leaf_rows);
    if (mine > most) return fmt::format("replica {} gets {} leaves, at most {} are its share", r, mine, most);
  }
  if (next != rows) return fmt::format("rows {} to {} go to nobody", next, rows - 1);
  if (rule.largest_difference_rows && largest - smallest > *rule.largest_difference_rows) {
    return fmt::format("sizes differ by {} rows, at most {} allowed", largest - smallest,
                       *rule.largest_difference_rows);
  }
  return {};
}

}  // namespace

Verdict check_shards(std::int64_t rows, std::span<const RowRange> shards, const ShardRule& rule) {
  if (rows < 1 || rule.leaf_rows < 1) {
    throw std::invalid_argument(fmt::format(
        "[check_shards] {} rows in leaves of {}; expected at least 1 of each", rows, rule.leaf_rows));
  }
  if (shards.empty()) return failed("SHD", fmt::format("a batch of {} rows has no shards", rows));
  const std::string fault = fault_in(rows, shards, rule);
  const std::string ranges =
      fmt::format("{} rows on {} replicas (first+count: {})", rows, shards.size(), describe(shards));
  if (!fault.empty()) return failed("SHD", fmt::format("{}: {}", ranges, fault));
  return passed("SHD", fmt::format("{}: covered in order, nobody above its share", ranges));
}

Verdict check_sharding(int replicas, const Sharding& sharding, const ShardRules& rules,
                       std::span<const std::int64_t> more_rows) {
  if (replicas < 1)
    throw std::invalid_argument(fmt::format("[check_sharding] {} replicas; expected at least 1", replicas));
  const std::int64_t last = 2 * std::int64_t{replicas} + 1;
  std::vector<std::int64_t> batches;
  for (std::int64_t rows = 1; rows <= last; ++rows) batches.push_back(rows);
  batches.insert(batches.end(), more_rows.begin(), more_rows.end());
  for (const std::int64_t rows : batches) {
    std::vector<RowRange> shards;
    try {
      shards = sharding(rows, replicas);
    } catch (const std::exception& error) {
      return failed(
          "SHD", fmt::format("{} rows on {} replicas: the sharder threw: {}", rows, replicas, error.what()));
    }
    if (shards.size() != static_cast<std::size_t>(replicas)) {
      return failed("SHD", fmt::format("{} rows on {} replicas: {} shards", rows, replicas, shards.size()));
    }
    Verdict verdict = check_shards(rows, shards, rules ? rules(rows) : ShardRule{});
    if (verdict.outcome == Outcome::kFailed) return verdict;
  }
  std::string more;
  for (const std::int64_t rows : more_rows) more += fmt::format(", {}", rows);
  return passed(
      "SHD", fmt::format("batches of 1 to {}{} rows on {} replicas: covered in order, nobody above its share",
                         last, more, replicas));
}

}  // namespace mirrorscale::harness

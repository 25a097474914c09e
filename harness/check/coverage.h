#pragma once
#include "harness/check/verdict.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mirrorscale::harness {

/// Who consumed what. Each replica writes only its own pages, so replicas may record at the same time without
/// a lock; reading is for when they are done.
class SampleLedger {
 public:
  struct Entry {
    std::int64_t epoch = 0, step = 0;
    std::vector<std::int64_t> ids;  // of the samples, in the order they were consumed
  };
  explicit SampleLedger(int replicas);
  /// Throws std::out_of_range for a replica that is not there.
  void record(int replica, std::int64_t epoch, std::int64_t step, std::span<const std::int64_t> ids);
  int replicas() const { return static_cast<int>(pages_.size()); }
  const std::vector<Entry>& entries(int replica) const;

 private:
  struct alignas(64) Page {  // a cache line each: replicas write side by side
    std::vector<Entry> entries;
  };
  std::vector<Page> pages_;
};

/// What an epoch must have consumed.
struct CoverageRule {
  std::int64_t samples = 0;                  // ids are 0 .. samples - 1
  std::int64_t times = 1;                    // how often each
  std::int64_t first_epoch = 0, epochs = 1;  // exactly these epochs
  /// A declared limit (dropped remainder, steps per epoch): the epoch holds this many rows in all, and no id
  /// more than `times`. Empty: every id exactly `times`.
  std::optional<std::int64_t> rows_per_epoch = {};
};

/// COV. A failure names the first missing, repeated or unknown id, the epoch, and which replicas took it at
/// which step.
Verdict check_coverage(const SampleLedger& ledger, const CoverageRule& rule);

}  // namespace mirrorscale::harness

#include "harness/check/coverage.h"

#include <fmt/format.h>
#include <stdexcept>
#include <string>

namespace mirrorscale::harness {
namespace {

/// "replica 0 in step 3, replica 1 in step 3": who took `id` in `epoch`.
std::string takers(const SampleLedger& ledger, std::int64_t epoch, std::int64_t id) {
  constexpr int kNamed = 6;
  std::string text;
  int found = 0;
  for (int replica = 0; replica < ledger.replicas(); ++replica) {
    for (const auto& entry : ledger.entries(replica)) {
      if (entry.epoch != epoch) continue;
      for (const std::int64_t taken : entry.ids) {
        if (taken != id || ++found > kNamed) continue;
        text += fmt::format("{}replica {} in step {}", text.empty() ? "" : ", ", replica, entry.step);
      }
    }
  }
  if (found > kNamed) text += fmt::format(" and {} more", found - kNamed);
  return text.empty() ? "nobody" : text;
}

struct EpochCount {
  std::vector<std::int64_t> times;
  std::int64_t rows = 0;
};

Verdict check_epoch(const SampleLedger& ledger, const CoverageRule& rule, std::int64_t epoch,
                    EpochCount& count) {
  count.times.assign(static_cast<std::size_t>(rule.samples), 0);
  count.rows = 0;
  for (int replica = 0; replica < ledger.replicas(); ++replica) {
    for (const auto& entry : ledger.entries(replica)) {
      if (entry.epoch != epoch) continue;
      count.rows += static_cast<std::int64_t>(entry.ids.size());
      for (const std::int64_t id : entry.ids) {
        if (id < 0 || id >= rule.samples) {
          return failed("COV", fmt::format("epoch {}: unknown sample {} (there are {}), taken by {}", epoch,
                                           id, rule.samples, takers(ledger, epoch, id)));
        }
        ++count.times[static_cast<std::size_t>(id)];
      }
    }
  }
  const bool limited = rule.rows_per_epoch.has_value();
  std::int64_t first_wrong = -1, missing = 0, repeated = 0;
  for (std::int64_t id = 0; id < rule.samples; ++id) {
    const std::int64_t times = count.times[static_cast<std::size_t>(id)];
    const bool too_few = times < rule.times && !limited, too_many = times > rule.times;
    missing += too_few ? 1 : 0;
    repeated += too_many ? 1 : 0;
    if ((too_few || too_many) && first_wrong < 0) first_wrong = id;
  }
  if (first_wrong >= 0) {
    return failed("COV",
                  fmt::format("epoch {}: sample {} was taken {} times, expected {}{}, by {}; {} samples were "
                              "taken too often, {} too seldom",
                              epoch, first_wrong, count.times[static_cast<std::size_t>(first_wrong)],
                              limited ? "at most " : "", rule.times, takers(ledger, epoch, first_wrong),
                              repeated, missing));
  }
  if (limited && count.rows != *rule.rows_per_epoch) {
    return failed("COV", fmt::format("epoch {}: {} rows were taken, expected {}", epoch, count.rows,
                                     *rule.rows_per_epoch));
  }
  return passed("COV", "");
}

}  // namespace

SampleLedger::SampleLedger(int replicas) {
  if (replicas < 1)
    throw std::invalid_argument(fmt::format("[SampleLedger] {} replicas; expected at least 1", replicas));
  pages_.resize(static_cast<std::size_t>(replicas));
}

void SampleLedger::record(int replica, std::int64_t epoch, std::int64_t step,
                          std::span<const std::int64_t> ids) {
  pages_.at(static_cast<std::size_t>(replica)).entries.push_back({epoch, step, {ids.begin(), ids.end()}});
}

const std::vector<SampleLedger::Entry>& SampleLedger::entries(int replica) const {
  return pages_.at(static_cast<std::size_t>(replica)).entries;
}

Verdict check_coverage(const SampleLedger& ledger, const CoverageRule& rule) {
  if (rule.samples < 1 || rule.times < 1 || rule.epochs < 1) {
    throw std::invalid_argument(
        fmt::format("[check_coverage] rule of {} samples, {} times, {} epochs; expected at "
                    "least 1 of each",
                    rule.samples, rule.times, rule.epochs));
  }
  for (int replica = 0; replica < ledger.replicas(); ++replica) {
    for (const auto& entry : ledger.entries(replica)) {
      if (entry.epoch >= rule.first_epoch && entry.epoch < rule.first_epoch + rule.epochs) continue;
      return failed(
          "COV", fmt::format("replica {} took rows in epoch {} (step {}), expected epochs {} to {}", replica,
                             entry.epoch, entry.step, rule.first_epoch, rule.first_epoch + rule.epochs - 1));
    }
  }
  EpochCount count;
  for (std::int64_t epoch = rule.first_epoch; epoch < rule.first_epoch + rule.epochs; ++epoch) {
    Verdict verdict = check_epoch(ledger, rule, epoch, count);
    if (verdict.outcome == Outcome::kFailed) return verdict;
  }
  const std::string often = rule.times == 1 ? "once" : fmt::format("{} times", rule.times);
  const std::string each = rule.rows_per_epoch
                               ? fmt::format("{} rows taken, none more than {}", count.rows, often)
                               : fmt::format("each taken {}", often);
  return passed("COV", fmt::format("{} samples, {} in each of {} epochs by {} replicas", rule.samples, each,
                                   rule.epochs, ledger.replicas()));
}

}  // namespace mirrorscale::harness

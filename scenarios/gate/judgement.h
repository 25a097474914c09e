#pragma once
#include "scenarios/baseline/store.h"
#include "scenarios/gate/config.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// One metric of one cell, judged.
struct GateFinding {
  std::string cell_key = {};
  Metric metric = Metric::kThroughput;
  harness::Change change = harness::Change::kAmbiguous;
  int baseline_launches = 0, candidate_launches = 0;
  bool by_session = false;
  /// Candidate over baseline, minus 1: -0.05 is 5 % less. Empty where nothing is compared in numbers.
  std::optional<double> relative_change = {};
  std::optional<double> p = {};           // that it is worse, after Holm
  std::optional<double> effect = {};      // smaller losses don't matter
  std::optional<double> detectable = {};  // smallest loss that this gate finds with a power of 90 %
  /// What the same cell would show in 30 s of paired slices of two builds in turn; empty with few slices.
  std::optional<double> paired_detectable = {};
  std::string detail = {};  // in words, where there is more to say
  const Waiver* waiver = nullptr;
  bool fails = false;
};

struct Judgement {
  std::vector<GateFinding> findings;
  std::vector<std::string> notes;
  bool failed() const;
  int count(harness::Change change) const;
};

/// The candidate's launches: those measured first judge all cells; launches from `confirming` on are used for
/// the cells in `suspects` only.
struct Candidate {
  std::vector<Launch> launches;
  std::size_t confirming = 0;  // 0: none
  std::set<std::string> suspects;
};

/// Judges every cell and metric of both sides. `day` ("2027-01-31") decides whether a waiver still holds. The
/// findings point into `config`.
Judgement judge(const std::vector<Launch>& baseline, const Candidate& candidate, const GateConfig& config,
                const std::string& day);

/// Cells that should be measured again before anything is said: worse, or ambiguous.
std::set<std::string> suspects_of(const Judgement& judgement);

}  // namespace mirrorscale::scenarios

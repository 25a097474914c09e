#include "scenarios/gate/results.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace mirrorscale::scenarios {
namespace {

using harness::CellStatus;

std::string joined(const std::set<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

}  // namespace

GateFinding judge_results(const GateTables& tables, std::size_t cell) {
  GateFinding finding{.cell_key = tables.cells()[cell], .metric = Metric::kResults};
  std::set<std::string> hashes, new_hashes, troubles;
  std::string disturbed;
  bool exact = true;
  for (std::size_t l = 0; l < tables.launches().size(); ++l) {
    const harness::CellRecord* record = tables.record(cell, l);
    if (record == nullptr) continue;
    const bool is_baseline = l < tables.baseline_launches();
    if (record->status == CellStatus::kSkipped) continue;
    if (record->reason_kind == harness::ReasonKind::kDisturbed) {
      if (!is_baseline) disturbed = record->reason;
      continue;
    }
    ++(is_baseline ? finding.baseline_launches : finding.candidate_launches);
    exact = exact && record->numerics == "exact";
    if (record->status == CellStatus::kOk) {
      (is_baseline ? hashes : new_hashes).insert(record->weight_hash);
    } else if (!is_baseline) {
      troubles.insert(fmt::format("{}: {}", harness::to_word(record->status), record->reason));
    }
  }
  if (finding.candidate_launches == 0 && !disturbed.empty()) {
    finding.change = harness::Change::kAmbiguous;
    finding.detail = "the machine, not the program, spoilt every launch: " + disturbed;
  } else if (finding.candidate_launches == 0) {
    finding.change = harness::Change::kMissing;
    finding.detail = "the baseline has it, the candidate does not";
  } else if (!troubles.empty()) {
    finding.change = harness::Change::kWorse;
    finding.detail = joined(troubles);
  } else if (finding.baseline_launches == 0) {
    finding.change = harness::Change::kNew;
    finding.detail = "not in the baseline; save one to gate it";
  } else if (exact && !std::ranges::includes(hashes, new_hashes)) {
    finding.change = harness::Change::kWorse;
    finding.detail =
        fmt::format("weights have other bits: {}, baseline {}", joined(new_hashes), joined(hashes));
  } else {
    finding.change = harness::Change::kSame;
    finding.detail = exact ? fmt::format("weights have the baseline's bits ({})", joined(new_hashes))
                           : "all checks passed (fast numerics: bits are not compared)";
  }
  return finding;
}

}  // namespace mirrorscale::scenarios

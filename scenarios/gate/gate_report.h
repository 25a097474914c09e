#pragma once
#include "harness/output/table.h"
#include "scenarios/gate/judgement.h"

#include <string>

namespace mirrorscale::scenarios {

/// What a gate tells, besides its findings.
struct GateReport {
  Judgement judgement;
  BaselineHeader baseline;
  harness::RunRecord candidate;  // the first launch
  int baseline_launches = 0, candidate_launches = 0, confirming_launches = 0;
  bool other_machine = false;
  double alpha = 0.01;
  std::vector<std::string> command = {};
};

/// One line a finding; those that are neither fine nor new stand first.
harness::Table finding_table(const GateReport& report);
/// "12 same, 1 worse, ...": counts of verdicts.
std::string counts_of(const Judgement& judgement);
/// How much a gate like this sees, and how much more a paired comparison would; one or more lines.
std::string strength_of(const GateReport& report);

/// What people read: table, notes, strength, verdict.
std::string to_text(const GateReport& report);
/// The same for the page of a CI job.
std::string to_markdown(const GateReport& report);
/// reports/gate.schema.json is the contract.
std::string to_json(const GateReport& report);
/// A test suite with a test case a finding; fails are failures, ambiguous and waived ones are skipped.
std::string to_junit(const GateReport& report);

}  // namespace mirrorscale::scenarios

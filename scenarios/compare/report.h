#pragma once
#include "scenarios/compare/comparison.h"

#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// A whole comparison, as its outputs tell it.
struct CompareReport {
  std::vector<std::string> command;
  BuildInfo build_a, build_b;
  bool same_sides = false;
  int restarts = 0;
  double restart_s = 0, slice_s = 0, elapsed_s = 0;
  harness::ChangeRule rule;
  std::uint64_t seed = 0;
  double planted_b = 0;
  bool random_layouts = true;  // whether the system gives a process addresses of its own
  std::vector<CellComparison> cells;
  std::vector<std::optional<CellJudgement>> judgements;  // by cell

  bool worse() const;         // some cell is
  bool check_failed() const;  // some cell's, on a side
};

/// Table, remarks and one sentence of conclusion, for a terminal.
std::string to_text(const CompareReport& report);
/// The same for a page of a CI job.
std::string to_markdown(const CompareReport& report);
/// One line, with every slice; docs/compare.md says what its fields mean.
std::string to_json(const CompareReport& report);
inline constexpr int kComparisonSchema = 1;

}  // namespace mirrorscale::scenarios

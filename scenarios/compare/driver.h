#pragma once
#include "scenarios/compare/plan.h"

#include <string>
#include <vector>

namespace mirrorscale::scenarios {

struct CompareOutputs {
  std::string json, markdown;        // empty: not written
  std::vector<std::string> command;  // as typed
};

/// Checks every cell on both sides, measures them in lockstep, judges them together, and tells. Returns
/// kFinding where a cell is worse or failed its check, else kGood. Throws std::invalid_argument for a plan
/// that can't be judged and std::runtime_error where a side fails.
int run_compare(const ComparePlan& plan, const CompareOutputs& outputs);

}  // namespace mirrorscale::scenarios

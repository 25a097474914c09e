#pragma once
#include "harness/record/record.h"
#include "scenarios/cells/cell.h"

#include <string>

namespace mirrorscale::scenarios {

/// Why a cell could not run.
struct CellFailure {
  harness::ReasonKind kind = harness::ReasonKind::kOther;
  std::string text;
};

/// Of the exception that is being handled. Out of memory: with the largest batch that fits by the plan. A
/// rank that is lost on a GPU counts as a failed device: nobody knows what it still does there.
CellFailure failure_of(const CellSpec& spec, const strategies::Dataset& data);

}  // namespace mirrorscale::scenarios

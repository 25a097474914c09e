#pragma once
#include "strategies/comm/communicator.h"

#include <string>

namespace mirrorscale::strategies {

/// All ranks' roots together.
std::size_t leaves_of(const TreePlan& plan);

/// What is wrong with a plan, or nothing. There must be a root; every operand of an addition must be there
/// before, and is used once: its place then may take the sum.
std::string fault_of(const TreePlan& plan);

/// One root a rank, summed level by level: each left one with its right neighbour.
TreePlan tree_over_ranks(int ranks);

}  // namespace mirrorscale::strategies

#pragma once
#include "scenarios/gate/tables.h"

#include <cstddef>
#include <optional>

namespace mirrorscale::scenarios {

/// Seconds of slices of each side that a paired comparison of one cell is credited with.
inline constexpr double kPairedSeconds = 15;

/// What a comparison of this cell in paired slices (two builds in turn, `mirrorscale compare`) of twice
/// kPairedSeconds would find with a power of 90 % at a level of 1 %, estimated from how much neighbouring
/// slices of the candidate differ: neighbours share the machine's state, as pairs do. Empty with fewer than
/// 10 pairs of neighbours.
std::optional<double> paired_detectable(const GateTables& tables, std::size_t cell);

}  // namespace mirrorscale::scenarios

#pragma once
#include "scenarios/gate/tables.h"

namespace mirrorscale::scenarios {

/// Whether a cell's results got worse: it fails its checks, can't run any more, or, in exact numerics, ends
/// with weights whose bits the baseline never had. No statistics: one such launch is enough. "missing" and
/// "new" are found here too.
GateFinding judge_results(const GateTables& tables, std::size_t cell);

}  // namespace mirrorscale::scenarios

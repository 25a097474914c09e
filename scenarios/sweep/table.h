#pragma once
#include "harness/output/table.h"
#include "harness/record/record.h"

#include <span>
#include <string>

namespace mirrorscale::scenarios {

/// One row a cell: devices, global batch, local batch, step p50/p95, samples/s, speed-up, efficiency, check.
harness::Table cell_table(std::span<const harness::CellRecord> cells);

/// The check column of a cell: "ok", or the codes that failed.
std::string check_mark(const harness::CellRecord& cell);

}  // namespace mirrorscale::scenarios

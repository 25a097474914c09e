#pragma once
#include "harness/output/table.h"
#include "harness/record/record.h"

#include <span>
#include <string>

namespace mirrorscale::scenarios {

/// One row a cell: devices, global batch, local batch, step p50/p95, samples/s, speed-up, efficiency, check.
harness::Table cell_table(std::span<const harness::CellRecord> cells);

/// "FAILED", "ERROR", "OUT OF MEMORY", "DEVICE FAILED" or "SKIPPED", for a cell that is not ok.
std::string trouble_mark(const harness::CellRecord& cell);

/// The check column of a cell: "ok", the codes that failed, or the trouble.
std::string check_mark(const harness::CellRecord& cell);

/// What other programs, heat or a power cap did to a cell's steps, where that was enough to tell; else empty.
std::string disturbance_note(const harness::CellRecord& cell);

}  // namespace mirrorscale::scenarios

#pragma once
#include "harness/record/record.h"
#include "scenarios/sweep/plan.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

struct SweepOutputs {
  std::filesystem::path records;      // JSON Lines, appended to
  std::filesystem::path gbench_json;  // empty: none
  std::filesystem::path csv;          // empty: none
  std::vector<std::string> command;   // as typed
};

/// Runs a plan group by group: checks every cell, measures those that passed, appends one record a cell.
/// Cells that the file has already are not run again. Prints the table. Returns kGood, or kFinding when a
/// cell failed its checks or could not run. A cell that is out of memory is not run again, and those that
/// differ from it in a larger batch only are skipped. When a device fails, that cell is recorded, the rest is
/// not attempted, and after the table std::runtime_error names the device. Throws std::invalid_argument when
/// the file holds another plan, or another machine's records.
int run_sweep(const SweepPlan& plan, const SweepOutputs& outputs);

}  // namespace mirrorscale::scenarios

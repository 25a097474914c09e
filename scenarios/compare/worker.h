#pragma once
#include "scenarios/cells/cell.h"

#include <string>

namespace mirrorscale::scenarios {

/// What a worker process of `compare` is told on its command line.
struct WorkerOptions {
  CellSpec cell;
  int memory_descriptor = -1;  // of LockstepMemory, inherited
  int seat = 0;
  double planted_slowdown = 0;  // a fraction of the step; see faults/slow_reducer.h
};

/// Carries out orders until kEnd. What goes wrong is written into the seat, and thrown. Ends with its parent,
/// and with an exception when no order comes for kLongestRest.
void run_worker(const WorkerOptions& options);

/// One line: "mirrorscale compare protocol 1, version 0.1.0, revision abc".
std::string protocol_line();

/// One line of JSON: what the cell is in this build, its verdicts and the hash of its weights after the short
/// run that they are judged on (see validation/).
std::string check_line(const CellSpec& cell);

}  // namespace mirrorscale::scenarios

#pragma once
#include "scenarios/cells/cell.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// A slice of one side.
struct TimedSlice {
  double seconds = 0;            // the steps', each the slowest replica's from a common start
  double cpu_s = 0;              // of all threads of the process, in the slice
  std::int64_t preemptions = 0;  // how often the system took a core from one of its threads
};

/// Two neighbouring slices, one a side, in an order drawn anew.
struct SlicePair {
  bool a_first = true;
  TimedSlice a, b;
};

/// Two fresh processes and what they did in turns.
struct Restart {
  int steps_per_slice = 1;  // of both sides
  int warmup_steps = 0;     // of both sides together
  bool settled = true;      // both were steady before the first slice
  double planted_s = 0;     // what a planted slowdown adds to a step of side B
  std::vector<SlicePair> pairs;
};

/// Who is compared with whom, and for how long.
struct Sides {
  std::string binary_a, binary_b;
  CellSpec a, b;
  double planted_b = 0;
};
struct LockstepOptions {
  double seconds = 3;     // of slices, after both are ready
  double slice_s = 0.01;  // shortest slice, at least one step
  double prepare_limit_s = 300;
};

/// One restart. Throws std::runtime_error that names the side that failed, ended or was late.
Restart run_restart(const Sides& sides, const LockstepOptions& options, std::mt19937_64& random);

}  // namespace mirrorscale::scenarios

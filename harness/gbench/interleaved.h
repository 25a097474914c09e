#pragma once
#include "harness/measure/clock.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace mirrorscale::harness {

/// One cell to be timed. `run_steps` runs that many steps and returns their seconds (from a common start to
/// the end of the slowest replica).
struct TimedCell {
  std::string name;
  std::function<double(int steps)> run_steps;
  int steps_per_slice = 1;
  double samples_per_step = 0;
};

struct Slice {
  int round = 0;
  double start_s = 0;  // since the run was made
  double seconds = 0;  // of all steps of the slice, as run_steps returned it
  double cpu_s = 0;    // CPU time of the whole process in the slice
};

struct CellTiming {
  std::string name;
  int steps_per_slice = 1;
  double samples_per_step = 0;
  std::vector<Slice> slices = {};
  std::string error = {};  // what run_steps threw, or a time that is no time; such a cell runs no more
  /// Samples a second, slice by slice.
  std::vector<double> samples_per_s() const;
};

/// Throughput of two cells in the rounds that both took part in, in round order.
struct PairedSlices {
  std::vector<double> first_samples_per_s, second_samples_per_s;
};
PairedSlices pair_slices(const CellTiming& first, const CellTiming& second);

/// Times cells in rounds: in each round every cell runs one slice, in an order drawn anew, through Google
/// Benchmark with manual time. Drift of the machine then hits all cells alike, and cells are compared round
/// by round. Uses Google Benchmark's global list: what is registered there by others is cleared. Prints
/// nothing.
class InterleavedRun {
 public:
  /// Throws std::invalid_argument: no cells, equal names, no function, fewer than 1 step a slice.
  explicit InterleavedRun(std::vector<TimedCell> cells, std::uint64_t seed = 1);

  /// Runs rounds until `after_round(*this)` returns false, or no cell is left. At least one round.
  void run(const std::function<bool(InterleavedRun&)>& after_round);

  /// The cell takes part no more (it is measured well enough). Its slices stay.
  void retire(std::size_t cell);
  bool active(std::size_t cell) const { return active_[cell]; }

  int rounds() const { return rounds_; }
  double elapsed_s() const { return clock_.now_s(); }  // since it was made
  /// One per cell, in the order given to the constructor.
  const std::vector<CellTiming>& timings() const { return timings_; }

 private:
  void run_round();

  std::vector<TimedCell> cells_;
  std::vector<CellTiming> timings_;
  std::vector<bool> active_;
  std::mt19937_64 random_;
  SteadyClock clock_;
  int rounds_ = 0;
};

}  // namespace mirrorscale::harness

#pragma once
#include "harness/judge/paired_change.h"
#include "scenarios/cells/cell.h"
#include "scenarios/sweep/plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// One line of a comparison: the same place in the axes of both sides.
struct ComparedCell {
  std::string name;  // what it is, and where the sides differ: "mlp devices=2 global_batch=256"
  CellSpec a, b;
};

/// Which time of a slice is compared.
enum class SliceClock { kAuto, kWall, kCpu };
SliceClock slice_clock_from(const std::string& name);

/// Enough for some to be spoilt by others on the machine: with ten, three spoilt ones hide any change.
inline constexpr int kUsualRestarts = 16;

struct ComparePlan {
  std::string binary_a, binary_b;
  std::vector<ComparedCell> cells;
  double planted_b = 0;  // a planted slowdown of side B, a fraction of its step; for studies
  int restarts = kUsualRestarts;
  double restart_s = 1;  // of slices, in each restart of each cell
  double slice_s = 0.01;
  std::uint64_t seed = 1;  // of orders
  SliceClock clock = SliceClock::kAuto;
  harness::ChangeRule rule;
  bool same_sides() const;
};

/// The cells of two plans, place by place. Throws std::invalid_argument where they have different numbers.
std::vector<ComparedCell> compared_cells(const SweepPlan& a, const SweepPlan& b);

/// The fewest restarts whose signed-rank test can reach `alpha` over so many cells.
int fewest_restarts(double alpha, std::size_t cells);

/// The program of a build: itself, or in a build folder or an installed prefix. Throws std::invalid_argument
/// with what was looked for.
std::string program_of_build(const std::string& folder_or_program);

/// The worker's options that give this very cell.
std::vector<std::string> arguments_of(const CellSpec& cell);

}  // namespace mirrorscale::scenarios

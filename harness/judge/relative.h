#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace mirrorscale::harness {

/// A metric of several cells over the launches of both sides, as logarithms. The launches of the baseline
/// come first; a launch that lacks a cell has nothing there.
struct LaunchTable {
  std::vector<std::vector<std::optional<double>>> value;  // [cell][launch]
  std::vector<int> session;                               // [launch]
  std::size_t baseline_launches = 0;
};

/// What is left of every value when what ITS LAUNCH did to the other cells is taken out: value minus the
/// median, over the other cells of that launch, of their distance from their own baseline medians. A machine
/// that is slower today moves all cells and leaves nothing; a cell that is slower than its neighbours stands
/// out. Empty where fewer than `fewest_others` other cells are in a launch.
LaunchTable relative_to_others(const LaunchTable& table, int fewest_others = 3);

}  // namespace mirrorscale::harness

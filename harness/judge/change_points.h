#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mirrorscale::harness {

struct ChangePointOptions {
  double alpha = 0.01;       // chance of a first point in a series that has none
  int shortest_segment = 3;  // points on each side; a single spike is no change
  int permutations = 1999;   // the smallest p value is 1 / (permutations + 1)
  std::uint64_t seed = 1;
};

struct ChangePoint {
  std::size_t index = 0;         // first point of the new level
  double before = 0, after = 0;  // medians of the segments that it parts
  double p = 1;
};

/// Where the level of a series changes (e-divisive, Matteson and James 2014, with exponent 1): the split with
/// the largest energy statistic, tested by permuting the points of its segment, then the same on both sides.
/// The test knows no variance that could be zero, and pays for having chosen the best split, since every
/// permutation chooses its own. Its points must be exchangeable under no change: hand in one value a session,
/// not one a launch. In order of index. Throws std::invalid_argument for values that are not finite and for
/// options out of range.
std::vector<ChangePoint> change_points(std::span<const double> series,
                                       const ChangePointOptions& options = {});

}  // namespace mirrorscale::harness

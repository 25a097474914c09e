#pragma once
#include <algorithm>
#include <cstddef>

namespace mirrorscale::strategies::nccl {

constexpr std::size_t kUnit = 16;  // floats; backends add whole units, which start at a cache line

constexpr std::size_t whole_units(std::size_t count) {
  return (count + kUnit - 1) / kUnit * kUnit;
}

/// A vector cut into one slice a rank: `width` floats each but for the last ones, which may be shorter or
/// empty.
struct Slices {
  std::size_t total = 0, width = 0;

  std::size_t first(int rank) const { return std::min(static_cast<std::size_t>(rank) * width, total); }
  std::size_t count(int rank) const { return first(rank + 1) - first(rank); }
};

/// Slices of whole units, as equal as that allows.
inline Slices slices_of(std::size_t total, int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  return {total, whole_units((total + n - 1) / n)};
}

}  // namespace mirrorscale::strategies::nccl

#pragma once

namespace mirrorscale::harness {

/// An estimate with its confidence interval.
struct Interval {
  double value = 0, low = 0, high = 0;
  bool operator==(const Interval&) const = default;
  /// Half of the width, relative to the value; 0.01 means ± 1 %.
  double relative_half_width() const { return (high - low) / 2 / value; }
};

}  // namespace mirrorscale::harness

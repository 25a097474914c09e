#pragma once
#include <cstddef>
#include <optional>
#include <span>

namespace mirrorscale::harness {

/// Quantile by linear interpolation between order statistics (position q * (n - 1), the usual default), q in
/// 0 .. 1. Empty when there are no values: no samples is not zero seconds. Throws std::invalid_argument for q
/// outside 0 .. 1 or a value that is not finite.
std::optional<double> quantile(std::span<const double> values, double q);
std::optional<double> median(std::span<const double> values);
/// Median absolute deviation from the median, as it is (times 1.4826 it estimates a normal standard
/// deviation).
std::optional<double> median_absolute_deviation(std::span<const double> values);

struct Summary {
  std::size_t samples = 0;
  double min_s = 0, p05_s = 0, median_s = 0, p95_s = 0, max_s = 0, mean_s = 0, mad_s = 0;
  /// (p95 - p05) / median; 0.05 means 5 %.
  double spread() const { return (p95_s - p05_s) / median_s; }
};
std::optional<Summary> summarize(std::span<const double> seconds);

}  // namespace mirrorscale::harness

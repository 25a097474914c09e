#include "harness/measure/summary.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  for (const double value : values) {
    if (!std::isfinite(value))
      throw std::invalid_argument(fmt::format("[summary] {} among the values", value));
  }
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

double quantile_of_sorted(const std::vector<double>& values, double q) {
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], position - static_cast<double>(below));
}

double deviation_from(double middle, const std::vector<double>& values) {
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - middle));
  std::ranges::sort(deviations);
  return quantile_of_sorted(deviations, 0.5);
}

}  // namespace

std::optional<double> quantile(std::span<const double> values, double q) {
  if (!(q >= 0 && q <= 1)) throw std::invalid_argument(fmt::format("[quantile] q = {}; expected 0 to 1", q));
  const std::vector<double> ordered = sorted(values);
  if (ordered.empty()) return {};
  return quantile_of_sorted(ordered, q);
}

std::optional<double> median(std::span<const double> values) {
  return quantile(values, 0.5);
}

std::optional<double> median_absolute_deviation(std::span<const double> values) {
  const std::vector<double> ordered = sorted(values);
  if (ordered.empty()) return {};
  return deviation_from(quantile_of_sorted(ordered, 0.5), ordered);
}

std::optional<Summary> summarize(std::span<const double> seconds) {
  const std::vector<double> ordered = sorted(seconds);
  if (ordered.empty()) return {};
  const double middle = quantile_of_sorted(ordered, 0.5);
  return Summary{
      .samples = ordered.size(),
      .min_s = ordered.front(),
      .p05_s = quantile_of_sorted(ordered, 0.05),
      .median_s = middle,
      .p95_s = quantile_of_sorted(ordered, 0.95),
      .max_s = ordered.back(),
      .mean_s = std::accumulate(ordered.begin(), ordered.end(), 0.0) / static_cast<double>(ordered.size()),
      .mad_s = deviation_from(middle, ordered)};
}

}  // namespace mirrorscale::harness

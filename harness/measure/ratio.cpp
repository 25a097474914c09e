#include "harness/measure/ratio.h"

#include "harness/measure/normal.h"
#include "harness/measure/student.h"
#include "harness/measure/summary.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

constexpr std::size_t kFewestForBootstrap = 6;  // 1 - 2 / 2^n first passes 0.95 at 6

/// SplitMix64: small, fast, and the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t n) {
    // The high half of a 32 x 32 bit product; the bias, n / 2^32, is of no account here.
    return static_cast<std::size_t>((next() >> 32) * static_cast<std::uint64_t>(n) >> 32);
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

void require_usable(const BootstrapOptions& options) {
  if (!(options.confidence > 0 && options.confidence < 1)) {
    throw std::invalid_argument(
        fmt::format("[bootstrap] confidence {}; expected between 0 and 1", options.confidence));
  }
  if (options.resamples < 100) {
    throw std::invalid_argument(
        fmt::format("[bootstrap] {} resamples; expected at least 100", options.resamples));
  }
  if (options.block < 0) {
    throw std::invalid_argument(fmt::format("[bootstrap] block of {}; expected 0 or more", options.block));
  }
}

void require_positive(std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && values[i] > 0) continue;
    throw std::invalid_argument(
        fmt::format("[interval] value {} is {}; expected a positive, finite number", i, values[i]));
  }
}

/// A sample of which medians of resamples are taken quickly: values are drawn by rank and counted.
class RankedSample {
 public:
  explicit RankedSample(std::span<const double> values)
      : rank_(values.size()), sorted_(values.begin(), values.end()) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
    for (std::size_t r = 0; r < order.size(); ++r) rank_[order[r]] = r;
    std::ranges::sort(sorted_);
    drawn_.resize(values.size());
  }

  /// Median of one circular block resample.
  double resample(Random& random, std::size_t block) {
    const std::size_t n = rank_.size();
    std::ranges::fill(drawn_, 0);
    for (std::size_t taken = 0; taken < n;) {
      std::size_t at = random.below(n);
      for (std::size_t i = 0; i < block && taken < n; ++i, ++taken) {
        ++drawn_[rank_[at]];
        at = at + 1 == n ? 0 : at + 1;
      }
    }
    return (order_statistic((n - 1) / 2) + order_statistic(n / 2)) / 2;
  }

 private:
  double order_statistic(std::size_t k) const {
    std::size_t rank = 0;
    for (std::size_t seen = drawn_[0]; seen <= k; seen += drawn_[rank]) ++rank;
    return sorted_[rank];
  }

  std::vector<std::size_t> rank_;
  std::vector<double> sorted_;
  std::vector<std::size_t> drawn_;
};

/// A percentile interval of n values is too narrow by about sqrt((n - 1) / n) and has a normal's tails where
/// a t's belong; the cure is to go further out ("expanded" percentiles, Hesterberg 2015). A block counts as
/// one value.
double expanded_tail(double tail, double independent) {
  const double n = std::max(independent, 4.0);
  return normal_above(std::sqrt(n / (n - 1)) * student_quantile_above(tail, n - 1));
}

/// Interval of the median of `values`; empty for fewer than 2.
std::optional<Interval> bootstrap_median(std::span<const double> values, const BootstrapOptions& options) {
  if (values.size() < 2) return {};
  const double middle = *median(values);
  if (values.size() < kFewestForBootstrap) {
    const auto [low, high] = std::ranges::minmax(values);
    return Interval{middle, low, high};
  }
  const int block = options.block > 0 ? options.block : correlation_block(values);
  RankedSample sample(values);
  Random random(options.seed);
  std::vector<double> medians(static_cast<std::size_t>(options.resamples));
  for (double& resampled : medians) resampled = sample.resample(random, static_cast<std::size_t>(block));
  std::ranges::sort(medians);
  const double tail = expanded_tail((1 - options.confidence) / 2, static_cast<double>(values.size()) / block);
  // Outward to the next order statistic, so that rounding never narrows the interval.
  const auto low = static_cast<std::size_t>(std::floor(tail * static_cast<double>(medians.size() - 1)));
  return Interval{middle, medians[low], medians[medians.size() - 1 - low]};
}

}  // namespace

std::optional<Interval> median_interval(std::span<const double> values, const BootstrapOptions& options) {
  require_usable(options);
  require_positive(values);
  return bootstrap_median(values, options);
}

std::optional<Interval> paired_ratio_interval(std::span<const double> numerator,
                                              std::span<const double> denominator,
                                              const BootstrapOptions& options) {
  require_usable(options);
  if (numerator.size() != denominator.size()) {
    throw std::invalid_argument(
        fmt::format("[paired_ratio_interval] {} numerators but {} denominators; a pair is two "
                    "slices of one round",
                    numerator.size(), denominator.size()));
  }
  require_positive(numerator);
  require_positive(denominator);
  std::vector<double> logs(numerator.size());
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] = std::log(numerator[i] / denominator[i]);
  const auto interval = bootstrap_median(logs, options);
  if (!interval) return {};
  return Interval{std::exp(interval->value), std::exp(interval->low), std::exp(interval->high)};
}

int correlation_block(std::span<const double> values) {
  const std::size_t n = values.size();
  if (n < kFewestForBootstrap) return 1;
  // The sign against the median is what a median's error is made of, and is blind to outliers.
  const double middle = *median(values);
  std::vector<double> signs(n);
  double variance = 0;
  for (std::size_t i = 0; i < n; ++i) {
    signs[i] = values[i] > middle ? 1 : values[i] < middle ? -1 : 0;
    variance += signs[i] * signs[i];
  }
  if (variance == 0) return 1;
  const auto correlation = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = lag; i < n; ++i) sum += signs[i] * signs[i - lag];
    return sum / variance;
  };
  // Block length of Politis and White (2004, corrected 2009) for the circular block bootstrap: `reach` is the
  // last lag before a run of insignificant correlations, the lag window is flat to reach and falls to 0 at
  // twice that.
  const double size = static_cast<double>(n);
  const double significant = 2 * std::sqrt(std::log10(size) / size);
  const auto quiet = std::max<std::size_t>(5, static_cast<std::size_t>(std::sqrt(std::log10(size))));
  const std::size_t most_lag = std::min(n - 1, static_cast<std::size_t>(std::ceil(std::sqrt(size))) + quiet);
  std::size_t reach = 0;
  for (std::size_t lag = 1; lag <= most_lag && lag <= reach + quiet; ++lag) {
    if (std::abs(correlation(lag)) >= significant) reach = lag;
  }
  if (reach == 0) return 1;
  double slope = 0, spectrum = 1;
  for (std::size_t lag = 1; lag <= std::min(2 * reach, n - 1); ++lag) {
    const double position = static_cast<double>(lag) / static_cast<double>(2 * reach);
    const double weight = position <= 0.5 ? 1 : 2 * (1 - position);
    slope += 2 * weight * static_cast<double>(lag) * correlation(lag);
    spectrum += 2 * weight * correlation(lag);
  }
  const double most = std::ceil(std::min(3 * std::sqrt(size), size / 3));
  // A negative or vanishing spectrum at 0 says that neighbours cancel: no block is needed to cover that.
  if (spectrum <= 0) return 1;
  const double block = std::cbrt(1.5 * slope * slope / (spectrum * spectrum) * size);
  return static_cast<int>(std::clamp(std::ceil(block), 1.0, most));
}

}  // namespace mirrorscale::harness

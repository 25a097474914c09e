#pragma once
#include "harness/measure/interval.h"

#include <cstdint>
#include <optional>
#include <span>

namespace mirrorscale::harness {

struct BootstrapOptions {
  double confidence = 0.95;
  int resamples = 2000;
  std::uint64_t seed = 1;  // equal input and seed, equal interval
  /// Slices resampled together, for values that hang on their neighbours in time. 0: found from the data.
  int block = 0;
};

/// Median of `values` (in order of time) and its bootstrap interval (expanded percentiles, see ratio.cpp).
/// Fewer than 6 values have no 95 % interval: then it is the whole range, which covers the median with
/// probability 1 - 2 / 2^n (0.5, 0.75, 0.875, 0.94 for 2 to 5). Empty for fewer than 2. Takes about 10 us a
/// value. Throws std::invalid_argument for values that are not positive and finite, and for options out of
/// range.
std::optional<Interval> median_interval(std::span<const double> values, const BootstrapOptions& options = {});

/// Interval of numerator / denominator from paired slices: element i of both was taken in the same round, so
/// that what disturbs a round cancels. The estimate is exp(median(log(numerator[i] / denominator[i]))). Fewer
/// than 6 pairs as above. Throws std::invalid_argument also when the sizes differ.
std::optional<Interval> paired_ratio_interval(std::span<const double> numerator,
                                              std::span<const double> denominator,
                                              const BootstrapOptions& options = {});

/// The block length used when options.block is 0: 1 for values without correlation in time.
int correlation_block(std::span<const double> values);

}  // namespace mirrorscale::harness

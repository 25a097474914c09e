#pragma once
#include "harness/measure/interval.h"

#include <cstddef>
#include <optional>
#include <span>

namespace mirrorscale::harness {

/// Wilcoxon's signed-rank test of values that would lie evenly around 0 if nothing were there.
struct SignedRank {
  std::size_t used = 0;     // values other than 0
  double positive_sum = 0;  // of the ranks of |value| of the positive ones; ties share their mean rank
  bool exact = true;        // the distribution of that sum, given the ties, was counted out
  /// Probability of such a sum or one further out, where every sign is a fair coin: evidence for values above
  /// 0, and below.
  double p_above = 1, p_below = 1;
};

/// Values that are 0 are left out. Exact up to kExactSignedRank values, ties included; beyond by the normal
/// approximation with the variance corrected for ties, and half a step for continuity. Throws
/// std::invalid_argument for a value that is not finite.
SignedRank signed_rank(std::span<const double> values);
inline constexpr std::size_t kExactSignedRank = 100;

/// Smallest p that `n` values can give: 1 / 2^n.
double least_signed_rank_p(std::size_t n);

/// Hodges-Lehmann: the median of the means of all pairs (each value with itself too), with the interval of
/// the values that the signed-rank test doesn't reject. Fewer than 6 values have no 95 % interval; then it is
/// their range. Empty for fewer than 2. With `scales`, how uncertain each value is: a mean of two is weighted
/// by 1 / scale, and the interval is of the test of values over their scales. Throws std::invalid_argument
/// for a value that is not finite, for a scale that is not positive, and for another number of scales.
std::optional<Interval> hodges_lehmann(std::span<const double> values, double confidence = 0.95,
                                       std::span<const double> scales = {});
/// The middle alone; empty where there is no value.
std::optional<double> median_of_pair_means(std::span<const double> values);

}  // namespace mirrorscale::harness

#include "harness/measure/signed_rank.h"

#include "harness/measure/normal.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

struct Ranked {
  std::vector<std::size_t> doubled;  // ranks of the absolute values, twice each, so that they are whole
  std::size_t doubled_positive = 0;
  double tie_correction = 0;  // sum of t^3 - t over groups of t equal absolute values
};

Ranked rank(std::span<const double> values) {
  std::vector<double> sorted;
  for (const double value : values) {
    if (!std::isfinite(value))
      throw std::invalid_argument(fmt::format("[signed_rank] a value is {}; expected finite numbers", value));
    if (value != 0) sorted.push_back(value);
  }
  std::ranges::sort(sorted, {}, [](double value) { return std::abs(value); });
  Ranked ranked;
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t end = first;
    while (end < sorted.size() && std::abs(sorted[end]) == std::abs(sorted[first])) ++end;
    const std::size_t doubled = first + 1 + end;  // ranks first + 1 … end: their mean, twice
    for (std::size_t i = first; i < end; ++i) {
      ranked.doubled.push_back(doubled);
      if (sorted[i] > 0) ranked.doubled_positive += doubled;
    }
    const auto t = static_cast<double>(end - first);
    ranked.tie_correction += t * t * t - t;
    first = end;
  }
  return ranked;
}

/// Share of all 2^n choices of signs whose (doubled) sum of positive ranks is s, for every s.
std::vector<double> distribution(const std::vector<std::size_t>& doubled_ranks) {
  std::vector<double> share{1};
  for (const std::size_t r : doubled_ranks) {
    std::vector<double> next(share.size() + r, 0.0);
    for (std::size_t s = 0; s < share.size(); ++s) {
      next[s] += share[s] / 2;
      next[s + r] += share[s] / 2;
    }
    share = std::move(next);
  }
  return share;
}

struct Moments {
  double mean, deviation;
};
Moments moments(double n, double tie_correction) {
  return {n * (n + 1) / 4, std::sqrt(n * (n + 1) * (2 * n + 1) / 24 - tie_correction / 48)};
}

/// How many of the ordered pair means lie outside of the interval at each end, for n values without ties.
std::size_t outside(std::size_t n, double tail) {
  if (n > kExactSignedRank) {
    const Moments m = moments(static_cast<double>(n), 0);
    double low = 0, high = m.mean;
    for (int i = 0; i < 60; ++i) {
      const double k = (low + high) / 2;
      (normal_above((m.mean - k - 0.5) / m.deviation) <= tail ? low : high) = k;
    }
    return static_cast<std::size_t>(low);
  }
  std::vector<std::size_t> ranks;
  for (std::size_t r = 1; r <= n; ++r) ranks.push_back(r);
  const std::vector<double> share = distribution(ranks);
  double below = 0;
  std::size_t k = 0;
  for (; k < share.size() && below + share[k] <= tail; ++k) below += share[k];
  return k;  // P(sum < k) <= tail
}

/// The means of all pairs of values, each with itself too, in order of size. Few are listed; of many, the one
/// asked for is closed in on by counting, to the last bit but a few.
class PairMeans {
 public:
  explicit PairMeans(std::span<const double> values) : sorted_(values.begin(), values.end()) {
    require_finite(values);
    std::ranges::sort(sorted_);
    if (sorted_.size() <= kListed) list(std::vector<double>(sorted_.size(), 1));
  }
  /// Weighted by 1 / scale. All are listed.
  PairMeans(std::span<const double> values, std::span<const double> scales)
      : sorted_(values.begin(), values.end()) {
    require_finite(values);
    if (scales.size() != values.size()) {
      throw std::invalid_argument(
          fmt::format("[hodges_lehmann] {} scales of {} values", scales.size(), values.size()));
    }
    std::vector<double> weights;
    for (const double scale : scales) {
      if (!(scale > 0 && std::isfinite(scale)))
        throw std::invalid_argument(fmt::format("[hodges_lehmann] scale {}; expected above 0", scale));
      weights.push_back(1 / scale);
    }
    list(weights);
  }

  std::size_t size() const { return sorted_.size() * (sorted_.size() + 1) / 2; }
  double median() const { return (at((size() - 1) / 2) + at(size() / 2)) / 2; }
  double at(std::size_t k) const {
    if (!listed_.empty()) return listed_[k];
    double low = sorted_.front(), high = sorted_.back();
    for (int i = 0; i < 200 && low < high; ++i) {
      const double middle = low + (high - low) / 2;
      if (middle == low || middle == high) break;
      (up_to(middle) > k ? high : low) = middle;
    }
    return up_to(low) > k ? low : high;
  }

 private:
  static constexpr std::size_t kListed = 500;

  static void require_finite(std::span<const double> values) {
    for (const double value : values) {
      if (!std::isfinite(value))
        throw std::invalid_argument(
            fmt::format("[hodges_lehmann] a value is {}; expected finite numbers", value));
    }
  }

  void list(const std::vector<double>& weights) {
    listed_.reserve(size());
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      for (std::size_t j = i; j < sorted_.size(); ++j) {
        // Halves of equal weights, so that a plain mean is a plain mean.
        const double part = weights[i] / (weights[i] + weights[j]);
        listed_.push_back(part * sorted_[i] + (1 - part) * sorted_[j]);
      }
    }
    std::ranges::sort(listed_);
  }

  /// How many are at most `bound`.
  std::size_t up_to(double bound) const {
    std::size_t count = 0, j = sorted_.size();
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      while (j > 0 && (sorted_[i] + sorted_[j - 1]) / 2 > bound) --j;
      if (j <= i) break;
      count += j - i;
    }
    return count;
  }

  std::vector<double> sorted_, listed_;
};

}  // namespace

SignedRank signed_rank(std::span<const double> values) {
  const Ranked ranked = rank(values);
  const std::size_t n = ranked.doubled.size();
  SignedRank result{.used = n,
                    .positive_sum = static_cast<double>(ranked.doubled_positive) / 2,
                    .exact = n <= kExactSignedRank};
  if (n == 0) return result;
  if (!result.exact) {
    const Moments m = moments(static_cast<double>(n), ranked.tie_correction);
    result.p_above = normal_above((result.positive_sum - m.mean - 0.5) / m.deviation);
    result.p_below = normal_above((m.mean - result.positive_sum - 0.5) / m.deviation);
    return result;
  }
  const std::vector<double> share = distribution(ranked.doubled);
  result.p_above = result.p_below = 0;
  for (std::size_t s = 0; s < share.size(); ++s) {
    if (s >= ranked.doubled_positive) result.p_above += share[s];
    if (s <= ranked.doubled_positive) result.p_below += share[s];
  }
  return result;
}

double least_signed_rank_p(std::size_t n) {
  return std::pow(0.5, static_cast<double>(n));
}

std::optional<Interval> hodges_lehmann(std::span<const double> values, double confidence,
                                       std::span<const double> scales) {
  if (!(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument(
        fmt::format("[hodges_lehmann] confidence {}; expected between 0 and 1", confidence));
  }
  const std::size_t n = values.size();
  if (n < 2) return {};
  const PairMeans means = scales.empty() ? PairMeans(values) : PairMeans(values, scales);
  const std::size_t k = outside(n, (1 - confidence) / 2);
  if (k == 0) {
    const auto [low, high] = std::ranges::minmax(values);
    return Interval{means.median(), low, high};
  }
  return Interval{means.median(), means.at(k - 1), means.at(means.size() - k)};
}

std::optional<double> median_of_pair_means(std::span<const double> values) {
  if (values.empty()) return {};
  return PairMeans(values).median();
}

}  // namespace mirrorscale::harness

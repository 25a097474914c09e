#include "harness/check/metric.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace mirrorscale::harness {
namespace {

/// Names the usual mistake that gives `reported`, or nothing.
std::string likely_mistake(std::span<const MetricPart> parts, double reported, double pooled,
                           double allowance) {
  const auto matches = [&](double value) {
    return std::abs(reported - value) <= std::max(allowance, 1e-12 * std::abs(value));
  };
  double sum_of_means = 0;
  int nonempty = 0;
  for (const MetricPart& part : parts) {
    if (part.count == 0) continue;
    sum_of_means += part.sum / part.count;
    ++nonempty;
  }
  const auto replicas = static_cast<double>(parts.size());
  if (matches(sum_of_means / nonempty)) return "; it is the mean of the replicas' means";
  if (matches(sum_of_means / replicas))
    return "; it is the mean of the replicas' means, empty replicas counted as 0";
  if (matches(sum_of_means)) return "; it is the sum of the replicas' means";
  if (matches(pooled / replicas)) return "; it is the right value divided by the number of replicas";
  for (std::size_t r = 0; r < parts.size(); ++r) {
    if (parts[r].count != 0 && matches(parts[r].sum / parts[r].count)) {
      return fmt::format("; it is the value of replica {} alone", r);
    }
  }
  return {};
}

}  // namespace

Verdict check_pooled(const std::string& metric, std::span<const MetricPart> parts, double reported,
                     double expected_count, double allowance) {
  if (!(allowance >= 0) || std::isinf(allowance)) {
    throw std::invalid_argument(fmt::format(
        "[check_pooled] {}: allowance {}; expected a finite number, not negative", metric, allowance));
  }
  double sum = 0, count = 0;
  for (const MetricPart& part : parts) sum += part.sum, count += part.count;
  if (count != expected_count) {
    return failed(
        "MET", fmt::format("{}: the replicas counted {} rows, expected {}", metric, count, expected_count));
  }
  if (count == 0) return skipped("MET", metric + ": no rows");
  const double pooled = sum / count;
  if (std::abs(reported - pooled) <= allowance) {  // false for NaN
    return passed("MET", fmt::format("{} {:.9g} is pooled from {} rows on {} replicas", metric, reported,
                                     count, parts.size()));
  }
  return failed(
      "MET",
      fmt::format("{} is reported as {:.17g}, pooled from {} rows on {} replicas it is {:.17g}{}", metric,
                  reported, count, parts.size(), pooled, likely_mistake(parts, reported, pooled, allowance)));
}

Verdict check_within(const std::string& metric, double value, double low, double high) {
  if (value >= low && value <= high) {
    return passed("MET", fmt::format("{} {:.9g} lies in {} to {}", metric, value, low, high));
  }
  return failed("MET", fmt::format("{} is {:.17g}, outside {} to {}", metric, value, low, high));
}

Verdict check_same_metric(const std::string& metric, std::span<const MetricAt> values) {
  if (values.size() < 2) return skipped("MET", metric + ": only one value, nothing to compare it with");
  const MetricAt& first = values.front();
  for (const MetricAt& other : values.subspan(1)) {
    if (std::bit_cast<std::uint64_t>(other.value) == std::bit_cast<std::uint64_t>(first.value)) continue;
    return failed(
        "MET",
        fmt::format("{} is {:.17g} on {} replicas at batch {}, but {:.17g} on {} at batch {}", metric,
                    other.value, other.replicas, other.batch, first.value, first.replicas, first.batch));
  }
  return passed("MET",
                fmt::format("{} {:.9g} is the same in {} settings", metric, first.value, values.size()));
}

}  // namespace mirrorscale::harness

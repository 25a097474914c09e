#include "harness/check/bound.h"

#include "harness/check/element.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>

namespace mirrorscale::harness {
namespace {

void require_usable(const std::string& what, std::span<const double> expected,
                    std::span<const double> bound) {
  if (expected.size() != bound.size()) {
    throw std::invalid_argument(fmt::format("[check_bound] {}: {} expected values but {} bounds", what,
                                            expected.size(), bound.size()));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!std::isfinite(expected[i]) || !std::isfinite(bound[i]) || bound[i] < 0) {
      throw std::invalid_argument(
          fmt::format("[check_bound] {}[{}]: expected value {} with bound {}; both must be finite and the "
                      "bound not negative",
                      what, i, expected[i], bound[i]));
    }
  }
}

template <class Float>
Verdict check(std::string_view invariant, const std::string& what, std::span<const double> expected,
              std::span<const double> bound, std::span<const Float> actual, std::size_t columns) {
  require_usable(what, expected, bound);
  if (actual.size() != expected.size()) {
    return failed(invariant, fmt::format("{}: {} values, expected {}", what, actual.size(), expected.size()));
  }
  if (expected.empty()) return skipped(invariant, what + ": no values to compare");

  std::size_t worst = 0, first_broken = expected.size(), broken = 0;
  double worst_ratio = -1, worst_difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(double{actual[i]} - expected[i]);
    const bool within = difference <= bound[i];  // false for NaN
    if (!within && broken++ == 0) first_broken = i;
    const double ratio = difference == 0              ? 0
                         : !std::isfinite(difference) ? std::numeric_limits<double>::infinity()
                                                      : difference / bound[i];
    if (ratio > worst_ratio) worst = i, worst_ratio = ratio, worst_difference = difference;
  }
  const std::string largest =
      fmt::format("largest |difference| / bound {:.3g} at {} (difference {:.3g}, bound {:.3g})", worst_ratio,
                  element_name(what, worst, columns), worst_difference, bound[worst]);
  if (broken == 0)
    return passed(invariant, fmt::format("{} values within their bounds; {}", expected.size(), largest));
  const std::size_t i = first_broken;
  return failed(
      invariant,
      fmt::format("{} is {:.{}g}, expected {:.17g} within {:.3g}; {} of {} values break their "
                  "bound; {}",
                  element_name(what, i, columns), actual[i], std::numeric_limits<Float>::max_digits10,
                  expected[i], bound[i], broken, expected.size(), largest));
}

}  // namespace

Verdict check_bound(std::string_view invariant, const std::string& what, std::span<const double> expected,
                    std::span<const double> bound, std::span<const float> actual, std::size_t columns) {
  return check(invariant, what, expected, bound, actual, columns);
}

Verdict check_bound(std::string_view invariant, const std::string& what, std::span<const double> expected,
                    std::span<const double> bound, std::span<const double> actual, std::size_t columns) {
  return check(invariant, what, expected, bound, actual, columns);
}

}  // namespace mirrorscale::harness

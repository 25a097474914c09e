#include "harness/check/equal_bits.h"

#include "harness/check/element.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <type_traits>

namespace mirrorscale::harness {
namespace {

template <class Float>
using Bits = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

template <class Float>
std::uint64_t ulp_distance_of(Float a, Float b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<std::uint64_t>::max();
  // Lays the floats out on a line of integers: negative ones mirrored below zero, -0 at -1.
  const auto place = [](Float x) {
    constexpr Bits<Float> kSign = Bits<Float>{1} << (sizeof(Float) * 8 - 1);
    const auto bits = std::bit_cast<Bits<Float>>(x);
    const auto magnitude = static_cast<std::int64_t>(bits & ~kSign);
    return (bits & kSign) != 0 ? -magnitude - 1 : magnitude;
  };
  // Unsigned difference: doubles of opposite sign can be further apart than a signed integer holds.
  const auto low = static_cast<std::uint64_t>(std::min(place(a), place(b)));
  const auto high = static_cast<std::uint64_t>(std::max(place(a), place(b)));
  return high - low;
}

/// What differs, in words; empty when every bit is equal.
template <class Float>
std::optional<std::string> difference(const std::string& what, std::span<const Float> expected,
                                      std::span<const Float> actual, std::size_t columns) {
  if (expected.size() != actual.size()) {
    return fmt::format("{}: {} values, expected {}", what, actual.size(), expected.size());
  }
  if (expected.empty() || std::memcmp(expected.data(), actual.data(), expected.size_bytes()) == 0) return {};
  std::size_t first = expected.size(), differing = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::bit_cast<Bits<Float>>(expected[i]) == std::bit_cast<Bits<Float>>(actual[i])) continue;
    if (differing++ == 0) first = i;
  }
  constexpr int kDigits = std::numeric_limits<Float>::max_digits10;
  const Float want = expected[first], got = actual[first];
  const std::string distance =
      std::isnan(want) || std::isnan(got)
          ? std::string("not comparable")
          : fmt::format("{} ULP, {:.3g}", ulp_distance_of(want, got), std::abs(double{got} - double{want}));
  return fmt::format("{} is {:.{}g}, expected {:.{}g} ({}); {} of {} values differ",
                     element_name(what, first, columns), got, kDigits, want, kDigits, distance, differing,
                     expected.size());
}

template <class Float>
std::size_t count_nan(std::span<const Float> values) {
  std::size_t count = 0;
  for (const Float value : values) count += std::isnan(value) ? 1 : 0;
  return count;
}

std::string nan_note(std::size_t count) {
  return count == 0 ? "" : fmt::format(" ({} of them NaN)", count);
}

template <class Float>
Verdict check_one(std::string_view invariant, const std::string& what, std::span<const Float> expected,
                  std::span<const Float> actual, std::size_t columns) {
  if (const auto found = difference(what, expected, actual, columns)) return failed(invariant, *found);
  if (expected.empty()) return skipped(invariant, what + ": no values to compare");
  return passed(invariant, fmt::format("{}: {} values equal in every bit{}", what, expected.size(),
                                       nan_note(count_nan(expected))));
}

/// The first difference between two lists of named values; empty when there is none.
std::optional<std::string> difference(std::span<const NamedValues> expected,
                                      std::span<const NamedValues> actual) {
  if (expected.size() != actual.size()) {
    return fmt::format("{} named groups of values, expected {}", actual.size(), expected.size());
  }
  std::optional<std::string> first;
  std::size_t groups = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].name != actual[i].name) {
      return fmt::format("group {} is \"{}\", expected \"{}\"", i, actual[i].name, expected[i].name);
    }
    auto found = difference(expected[i].name, expected[i].values, actual[i].values, expected[i].columns);
    if (!found) continue;
    ++groups;
    if (!first) first = std::move(found);
  }
  if (first && groups > 1) *first += fmt::format("; {} of {} groups differ", groups, expected.size());
  return first;
}

std::size_t count_values(std::span<const NamedValues> groups) {
  std::size_t count = 0;
  for (const NamedValues& group : groups) count += group.values.size();
  return count;
}

}  // namespace

Verdict check_equal_bits(std::string_view invariant, const std::string& what, std::span<const float> expected,
                         std::span<const float> actual, std::size_t columns) {
  return check_one(invariant, what, expected, actual, columns);
}

Verdict check_equal_bits(std::string_view invariant, const std::string& what,
                         std::span<const double> expected, std::span<const double> actual) {
  return check_one(invariant, what, expected, actual, 0);
}

Verdict check_equal_bits(std::string_view invariant, std::span<const NamedValues> expected,
                         std::span<const NamedValues> actual) {
  if (const auto found = difference(expected, actual)) return failed(invariant, *found);
  const std::size_t values = count_values(expected);
  if (values == 0) return skipped(invariant, "no values to compare");
  std::size_t nans = 0;
  for (const NamedValues& group : expected) nans += count_nan(group.values);
  return passed(invariant, fmt::format("{} values in {} groups equal in every bit{}", values, expected.size(),
                                       nan_note(nans)));
}

Verdict check_mirrored(std::span<const ReplicaValues> replicas, std::int64_t step) {
  if (replicas.size() < 2) return skipped("MIR", "one replica: nothing to compare it with");
  const auto when = step == 0 ? std::string("before the first step") : fmt::format("after step {}", step);
  for (const ReplicaValues& replica : replicas.subspan(1)) {
    if (const auto found = difference(replicas.front().values, replica.values)) {
      return failed(
          "MIR", fmt::format("{} differs from {} {}: {}", replica.name, replicas.front().name, when, *found));
    }
  }
  const std::size_t values = count_values(replicas.front().values);
  if (values == 0) return skipped("MIR", "no values to compare");
  return passed("MIR", fmt::format("{} replicas bit-equal in {} values {}", replicas.size(), values, when));
}

void MirrorJudge::observe(std::span<const ReplicaValues> replicas, std::int64_t step) {
  Verdict verdict = check_mirrored(replicas, step);
  if (verdict.outcome == Outcome::kSkipped) return;
  ++steps_;
  replicas_ = replicas.size();
  values_ = count_values(replicas.front().values);
  if (verdict.outcome == Outcome::kFailed && first_failure_.invariant.empty())
    first_failure_ = std::move(verdict);
}

Verdict MirrorJudge::verdict() const {
  if (!first_failure_.invariant.empty()) return first_failure_;
  if (steps_ == 0) return skipped("MIR", "one replica: nothing to compare it with");
  return passed("MIR", fmt::format("{} replicas bit-equal in {} values each of the {} times looked",
                                   replicas_, values_, steps_));
}

std::uint64_t ulp_distance(float a, float b) {
  return ulp_distance_of(a, b);
}
std::uint64_t ulp_distance(double a, double b) {
  return ulp_distance_of(a, b);
}

}  // namespace mirrorscale::harness

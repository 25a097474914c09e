#pragma once
#include "harness/check/verdict.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::harness {

/// Borrowed values with a name that evidence can point to, e.g. "dense_1/kernel". With `columns` > 0 an
/// element is named by row and column, else by its index.
struct NamedValues {
  std::string name;
  std::span<const float> values;
  std::size_t columns = 0;
};

/// ONE: bit equality (so -0 is not 0, and a NaN equals a NaN of the same bits; the evidence counts NaNs).
/// A failure names the first differing element, both values, their distance in ULP and absolute, and how many
/// of how many differ; sizes that differ are a failure. Two empty spans are skipped: nothing was compared.
Verdict check_equal_bits(std::string_view invariant, const std::string& what, std::span<const float> expected,
                         std::span<const float> actual, std::size_t columns = 0);
/// The same for losses, metrics and other double values.
Verdict check_equal_bits(std::string_view invariant, const std::string& what,
                         std::span<const double> expected, std::span<const double> actual);
/// Many named spans at once, pair by pair; a name or a count that differs is a failure.
Verdict check_equal_bits(std::string_view invariant, std::span<const NamedValues> expected,
                         std::span<const NamedValues> actual);

/// What one replica holds: weights, optimizer slots, buffers; step counters and rates as spans of one
/// element.
struct ReplicaValues {
  std::string name;  // e.g. "replica 1 (cpu:1)"
  std::vector<NamedValues> values;
};

/// MIR: all replicas hold the bits of the first one. A failure names replica, step and element. One replica
/// alone is skipped. `step` counts from 1; 0 is "before the first step".
Verdict check_mirrored(std::span<const ReplicaValues> replicas, std::int64_t step);

/// MIR over a run: give it every step; it keeps the first failure.
class MirrorJudge {
 public:
  void observe(std::span<const ReplicaValues> replicas, std::int64_t step);
  /// Passed: all steps seen were equal. Skipped: no step with two replicas was seen.
  Verdict verdict() const;

 private:
  std::int64_t steps_ = 0;
  std::size_t replicas_ = 0, values_ = 0;
  Verdict first_failure_;
};

/// Distance of two floats in units in the last place: how many steps of std::nextafter lie between them, 0
/// and -0 counted as neighbours. NaN is as far as can be.
std::uint64_t ulp_distance(float a, float b);
std::uint64_t ulp_distance(double a, double b);

}  // namespace mirrorscale::harness

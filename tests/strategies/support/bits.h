#pragma once
#include "strategies/model.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

/// Equality of bits, with the first difference in words. 0 and -0 differ; equal NaN are equal.
namespace mirrorscale::strategies::testing {

inline ::testing::AssertionResult same_bits(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) {
    return ::testing::AssertionFailure() << a.size() << " values against " << b.size();
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) {
      std::ostringstream text;
      text.precision(9);
      text << "element " << i << " of " << a.size() << ": " << a[i] << " against " << b[i];
      return ::testing::AssertionFailure() << text.str();
    }
  }
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult same_bits(const std::vector<NamedArray>& a,
                                            const std::vector<NamedArray>& b) {
  if (a.size() != b.size()) {
    return ::testing::AssertionFailure() << a.size() << " arrays against " << b.size();
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name) return ::testing::AssertionFailure() << a[i].name << " against " << b[i].name;
    if (auto same = same_bits(a[i].values, b[i].values); !same) {
      return ::testing::AssertionFailure() << a[i].name << ", " << same.message();
    }
  }
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult same_bits(double a, double b) {
  if (std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b))
    return ::testing::AssertionSuccess();
  std::ostringstream text;
  text.precision(17);
  text << a << " against " << b;
  return ::testing::AssertionFailure() << text.str();
}

inline ::testing::AssertionResult same_bits(const Pooled& a, const Pooled& b) {
  if (a.rows != b.rows) return ::testing::AssertionFailure() << a.rows << " rows against " << b.rows;
  if (a.metric_sums.size() != b.metric_sums.size())
    return ::testing::AssertionFailure() << "numbers of metrics";
  if (auto same = same_bits(a.loss_sum, b.loss_sum); !same) return same << " (loss)";
  if (auto same = same_bits(a.weight_sum, b.weight_sum); !same) return same << " (weight)";
  for (std::size_t m = 0; m < a.metric_sums.size(); ++m) {
    if (auto same = same_bits(a.metric_sums[m], b.metric_sums[m]); !same)
      return same << " (metric " << m << ")";
  }
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult same_bits(const Logs& a, const Logs& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << " logs against " << b.size();
  for (const auto& [name, value] : a) {
    const auto found = b.find(name);
    if (found == b.end()) return ::testing::AssertionFailure() << "no " << name;
    if (auto same = same_bits(value, found->second); !same) return same << " (" << name << ")";
  }
  return ::testing::AssertionSuccess();
}

}  // namespace mirrorscale::strategies::testing

#include "harness/check/shape.h"

#include <cstring>
#include <fmt/format.h>
#include <stdexcept>

namespace mirrorscale::harness {

Verdict check_shape(const std::string& what, Shape expected, Shape actual) {
  if (expected == actual) {
    return passed(
        "SHP", fmt::format("{}: {} rows in, ({}, {}) out", what, expected.rows, actual.rows, actual.columns));
  }
  return failed("SHP", fmt::format("{}: shape ({}, {}), expected ({}, {})", what, actual.rows, actual.columns,
                                   expected.rows, expected.columns));
}

Verdict check_row_order(const std::string& what, std::span<const float> expected,
                        std::span<const float> actual, std::int64_t columns) {
  if (columns < 1 || expected.size() % static_cast<std::size_t>(columns) != 0) {
    throw std::invalid_argument(
        fmt::format("[check_row_order] {}: {} values in rows of {}", what, expected.size(), columns));
  }
  if (expected.size() != actual.size()) {
    const auto rows = [&](std::span<const float> values) {
      return static_cast<double>(values.size()) / static_cast<double>(columns);
    };
    return failed("SHP", fmt::format("{}: {} rows out, {} rows in", what, rows(actual), rows(expected)));
  }
  const auto width = static_cast<std::size_t>(columns);
  const std::size_t rows = expected.size() / width;
  if (rows == 0) return skipped("SHP", what + ": no rows");
  const auto equal = [&](std::span<const float> a, std::size_t i, std::span<const float> b, std::size_t j) {
    return std::memcmp(a.data() + i * width, b.data() + j * width, width * sizeof(float)) == 0;
  };
  std::size_t wrong = 0, first = rows;
  for (std::size_t i = 0; i < rows; ++i) {
    if (equal(actual, i, expected, i)) continue;
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) {
    bool all_alike = rows > 1;
    for (std::size_t i = 1; i < rows && all_alike; ++i) all_alike = equal(expected, i, expected, 0);
    if (all_alike) return skipped("SHP", what + ": all rows are alike, so their order can't be seen");
    return passed("SHP", fmt::format("{}: row i of {} belongs to input i", what, rows));
  }
  std::string holds = "the row of no input";
  for (std::size_t j = 0; j < rows; ++j) {
    if (!equal(actual, first, expected, j)) continue;
    holds = fmt::format("the row of input {}", j);
    break;
  }
  return failed("SHP", fmt::format("{}: row {} holds {}; {} of {} rows are not their input's", what, first,
                                   holds, wrong, rows));
}

}  // namespace mirrorscale::harness

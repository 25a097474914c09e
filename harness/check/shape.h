#pragma once
#include "harness/check/verdict.h"

#include <cstdint>
#include <span>
#include <string>

namespace mirrorscale::harness {

struct Shape {
  std::int64_t rows = 0, columns = 0;
  bool operator==(const Shape&) const = default;
};

/// SHP: rows out = rows in, columns as the model says.
Verdict check_shape(const std::string& what, Shape expected, Shape actual);

/// SHP by content: row i of `actual` [rows, columns] holds the bits of row i of `expected`. A failure names
/// the first row that does not, and the input whose row it holds instead, if there is one. Throws
/// std::invalid_argument for columns < 1 or a size of `expected` that is no multiple of it.
Verdict check_row_order(const std::string& what, std::span<const float> expected,
                        std::span<const float> actual, std::int64_t columns);

}  // namespace mirrorscale::harness

#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

namespace mirrorscale::scenarios::oracle {

/// A row-major matrix, and beside each element the scale of the float32 run's error there, in units of the
/// unit roundoff: |error| <= lambda * unit * scale, but for a probability that docs/error_bound.md states.
struct Tracked {
  std::size_t rows = 0, columns = 0;
  std::vector<double> value, scale;

  void resize(std::size_t new_rows, std::size_t new_columns) {
    rows = new_rows;
    columns = new_columns;
    value.resize(rows * columns);
    scale.resize(rows * columns);
  }
  std::size_t size() const { return value.size(); }
};

/// Scale of a sum of two independent errors; of errors that may agree it is simply a + b.
inline double independent(double a, double b) {
  return std::sqrt(a * a + b * b);
}

}  // namespace mirrorscale::scenarios::oracle

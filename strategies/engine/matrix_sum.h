#pragma once
#include "kernels/backend.h"

#include <cstddef>

namespace mirrorscale::strategies {

/// sum = a + b, elementwise, for matrices [rows, columns] that begin at a cache line. `sum` may be a or b.
inline void add_matrices(kernels::Backend& backend, kernels::ConstMatrix a, kernels::ConstMatrix b,
                         kernels::Matrix sum) {
  const auto count = static_cast<std::size_t>(sum.rows) * static_cast<std::size_t>(sum.row_stride);
  const int parts = backend.info().layout == kernels::Layout::kRows ? 1 : kernels::panels(sum.columns);
  for (int p = 0; p < parts; ++p) {
    const auto panel = static_cast<std::size_t>(p);
    backend.add(count, a.data + panel * a.panel_stride, b.data + panel * b.panel_stride,
                sum.data + panel * sum.panel_stride);
  }
}

}  // namespace mirrorscale::strategies

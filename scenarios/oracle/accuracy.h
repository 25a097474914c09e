#pragma once
#include "scenarios/oracle/settings.h"
#include "scenarios/oracle/tracked.h"

#include <cstddef>

namespace mirrorscale::scenarios::oracle {

/// Weighted hits over rows, and how much of them rounding may change.
struct Hits {
  double sum = 0, undecided = 0;
};

/// The first largest column against the label.
Hits sparse_hits(const ErrorModel& errors, const Tracked& prediction, const Batch& batch);
/// Mean over columns of (prediction > threshold) == (target > 0.5).
Hits binary_hits(const ErrorModel& errors, const Tracked& prediction, const Batch& batch, double threshold);

}  // namespace mirrorscale::scenarios::oracle

#include "scenarios/oracle/penalties.h"

#include <cmath>

namespace mirrorscale::scenarios::oracle {

Penalty penalty_of(const ArraySize& array, const Tracked& w) {
  Penalty result;
  if (array.l1 == 0 && array.l2 == 0) return result;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double magnitude = std::fabs(w.value[i]);
    result.value += array.l1 * magnitude + array.l2 * magnitude * magnitude;
    result.scale += (array.l1 + 2 * array.l2 * magnitude) * w.scale[i];
  }
  // Chains of at most the array's length over partial sums that are at most the total; two factors.
  result.scale += (std::sqrt(static_cast<double>(w.size())) + 4) * result.value;
  return result;
}

void add_penalty_gradient(const ArraySize& array, const ErrorModel& errors, const Tracked& w,
                          Tracked& gradient) {
  for (std::size_t i = 0; i < w.size() && array.l2 != 0; ++i) {
    const double term = 2 * array.l2 * w.value[i];
    gradient.value[i] += term;
    gradient.scale[i] += 2 * array.l2 * w.scale[i] + 2 * std::fabs(term) + std::fabs(gradient.value[i]);
  }
  for (std::size_t i = 0; i < w.size() && array.l1 != 0; ++i) {
    const bool certain = w.scale[i] == 0 || std::fabs(w.value[i]) > errors.bound_of(w.scale[i]);
    gradient.value[i] += w.value[i] > 0 ? array.l1 : w.value[i] < 0 ? -array.l1 : 0;
    gradient.scale[i] +=
        array.l1 + std::fabs(gradient.value[i]) + (certain ? 0 : errors.scale_of(2 * array.l1));
  }
}

}  // namespace mirrorscale::scenarios::oracle

#include "scenarios/gate/paired.h"

#include "harness/measure/summary.h"

#include <cmath>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

constexpr std::size_t kFewestSteps = 10;
constexpr double kNormalPerMad = 1.4826;   // standard deviation of a normal over its median deviation
constexpr double kMedianPerMean = 1.2533;  // standard error of a median over that of a mean
constexpr double kLevelAndPower = 2.326 + 1.282;

}  // namespace

std::optional<double> paired_detectable(const GateTables& tables, std::size_t cell) {
  std::vector<double> steps;  // between neighbouring slices
  double slice_s = 0;
  for (std::size_t l = tables.baseline_launches(); l < tables.launches().size(); ++l) {
    const harness::CellRecord* record = tables.record(cell, l);
    if (record == nullptr || !record->measurement) continue;
    const harness::Measurement& m = *record->measurement;
    for (std::size_t i = 1; i < m.slice_samples_per_s.size(); ++i) {
      const double ratio = m.slice_samples_per_s[i] / m.slice_samples_per_s[i - 1];
      if (std::isfinite(std::log(ratio))) steps.push_back(std::log(ratio));
    }
    slice_s = static_cast<double>(m.steps_per_slice * record->global_batch) / m.samples_per_s.value;
  }
  if (steps.size() < kFewestSteps || !(slice_s > 0)) return {};
  const double deviation = kNormalPerMad * *harness::median_absolute_deviation(steps);
  const double pairs = kPairedSeconds / slice_s;
  return std::expm1(kLevelAndPower * kMedianPerMean * deviation / std::sqrt(pairs));
}

}  // namespace mirrorscale::scenarios

#include "scenarios/gate/evaluation.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace mirrorscale::scenarios {

std::optional<GateFinding> judge_evaluation(const GateTables& tables, std::size_t cell, Metric metric,
                                            double effect) {
  std::vector<double> before, now;
  bool exact = true;
  for (std::size_t l = 0; l < tables.launches().size(); ++l) {
    const harness::CellRecord* record = tables.record(cell, l);
    const auto value = record == nullptr ? std::nullopt : evaluation_of(*record, metric);
    if (!value) continue;
    (l < tables.baseline_launches() ? before : now).push_back(*value);
    exact = exact && record->numerics == "exact";
  }
  if (before.empty() || now.empty()) return {};
  const double sign = larger_is_better(metric) ? -1 : 1;  // so that larger is worse
  const auto worst = [&](const std::vector<double>& values) {
    return *std::ranges::max_element(values, {}, [&](double v) { return sign * v; });
  };
  const double was = worst(before), is = worst(now);
  const double loss = sign * (is - was), limit = exact ? 0 : effect * std::abs(was);
  GateFinding finding{.cell_key = tables.cells()[cell],
                      .metric = metric,
                      .change = loss > limit    ? harness::Change::kWorse
                                : loss < -limit ? harness::Change::kBetter
                                                : harness::Change::kSame,
                      .baseline_launches = static_cast<int>(before.size()),
                      .candidate_launches = static_cast<int>(now.size()),
                      .effect = exact ? 0 : effect};
  if (was != 0) finding.relative_change = is / was - 1;
  finding.detail = fmt::format("{:.6g}, baseline {:.6g}, after the validation steps{}", is, was,
                               exact ? "; exact numerics: any loss counts" : "");
  return finding;
}

}  // namespace mirrorscale::scenarios

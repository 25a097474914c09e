#include "scenarios/gate/config.h"

#include <fnmatch.h>

namespace mirrorscale::scenarios {

GateConfig::GateConfig()
    : metrics{{Metric::kThroughput, {.effect = 0.05, .drift = 0.25, .relative_drift = 0.05}},
              {Metric::kEfficiency, {.effect = 0.05, .drift = 0.15, .relative_drift = 0.05}},
              {Metric::kStepMin, {.effect = 0.05, .drift = 0.20, .relative_drift = 0.05}},
              // The tail of a step is what other programs on the machine do to it, before all.
              {Metric::kStepP95, {.effect = 0.20, .drift = 0.50, .relative_drift = 0.20}},
              {Metric::kMemory, {.effect = 0.05, .drift = 0.01, .relative_drift = 0.01}},
              // These don't drift; `effect` is for fast numerics, exact ones allow nothing.
              {Metric::kAccuracy, {.effect = 0.01}},
              {Metric::kValidationLoss, {.effect = 0.01}},
              {Metric::kResults, {.effect = 0}}} {}

bool matches(const std::string& pattern, const std::string& cell_key) {
  return fnmatch(pattern.c_str(), cell_key.c_str(), 0) == 0;
}

MetricLimits GateConfig::limits_of(const std::string& cell_key, Metric metric) const {
  MetricLimits limits = metrics.at(metric);
  for (const CellRule& rule : rules) {
    if ((rule.metric && *rule.metric != metric) || !matches(rule.match, cell_key)) continue;
    limits.effect = rule.effect.value_or(limits.effect);
    limits.drift = rule.drift.value_or(limits.drift);
    limits.relative_drift = rule.relative_drift.value_or(limits.relative_drift);
    limits.gated = rule.gated.value_or(limits.gated);
  }
  return limits;
}

const Waiver* GateConfig::waiver_of(const std::string& cell_key, Metric metric,
                                    const std::string& day) const {
  for (const Waiver& waiver : waivers) {
    const bool concerns = (!waiver.metric || *waiver.metric == metric) && matches(waiver.match, cell_key);
    if (concerns && day <= waiver.until) return &waiver;
  }
  return nullptr;
}

}  // namespace mirrorscale::scenarios

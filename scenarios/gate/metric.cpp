#include "scenarios/gate/metric.h"

#include "harness/measure/efficiency.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace mirrorscale::scenarios {
namespace {

std::optional<double> value_of(const harness::CellRecord& cell, Metric metric) {
  const harness::Measurement& m = *cell.measurement;
  switch (metric) {
    case Metric::kThroughput:
      return m.samples_per_s.value;
    case Metric::kEfficiency:
      if (!m.efficiency || m.base_key == cell.cell_key) return {};
      return m.efficiency->value;
    case Metric::kStepMin:
      return m.step_min_s;
    case Metric::kStepP95:
      return m.step_p95_s;
    case Metric::kMemory:
      return static_cast<double>(cell.memory.process_peak_bytes);
    case Metric::kAccuracy:
    case Metric::kValidationLoss:
      return evaluation_of(cell, metric);
    case Metric::kResults:
      return {};
  }
  throw std::logic_error("[metric] no such metric");
}

std::optional<double> logarithm(std::optional<double> value) {
  // 0 has no ratio to anything; a cell that reports it is compared in its other metrics.
  if (!value || !(*value > 0)) return {};
  return std::log(*value);
}

}  // namespace

std::string_view to_word(Metric metric) {
  switch (metric) {
    case Metric::kThroughput:
      return "throughput";
    case Metric::kEfficiency:
      return "efficiency";
    case Metric::kStepMin:
      return "step_min";
    case Metric::kStepP95:
      return "step_p95";
    case Metric::kMemory:
      return "memory";
    case Metric::kAccuracy:
      return "accuracy";
    case Metric::kValidationLoss:
      return "validation_loss";
    case Metric::kResults:
      return "results";
  }
  throw std::logic_error("[metric] no such metric");
}

Metric metric_from_word(std::string_view word) {
  for (const Metric metric :
       {Metric::kThroughput, Metric::kEfficiency, Metric::kStepMin, Metric::kStepP95, Metric::kMemory,
        Metric::kAccuracy, Metric::kValidationLoss, Metric::kResults}) {
    if (word == to_word(metric)) return metric;
  }
  throw std::invalid_argument("no metric '" + std::string(word) +
                              "'; there are throughput, efficiency, step_min, step_p95, memory, accuracy, "
                              "validation_loss, results");
}

const std::vector<Metric>& noisy_metrics() {
  static const std::vector<Metric> all{Metric::kThroughput, Metric::kEfficiency, Metric::kStepMin,
                                       Metric::kStepP95, Metric::kMemory};
  return all;
}

bool larger_is_better(Metric metric) {
  return metric == Metric::kThroughput || metric == Metric::kEfficiency || metric == Metric::kAccuracy;
}

std::optional<double> evaluation_of(const harness::CellRecord& cell, Metric metric) {
  if (cell.status != harness::CellStatus::kOk) return {};
  const auto found = cell.evaluation.find(metric == Metric::kAccuracy ? "accuracy" : "loss");
  if (found == cell.evaluation.end()) return {};
  return found->second;
}

std::optional<double> loss_of(const harness::CellRecord& cell, Metric metric) {
  if (!cell.measurement || !cell.makes_claim()) return {};
  std::optional<double> loss = logarithm(value_of(cell, metric));
  if (loss && larger_is_better(metric)) *loss = -*loss;
  return loss;
}

std::optional<double> core_speed_of(const harness::CellRecord& cell) {
  if (!cell.measurement || !cell.makes_claim()) return {};
  const harness::Measurement& m = *cell.measurement;
  const std::optional<double> share = logarithm(m.fma_peak_share);
  const std::optional<double> used = logarithm(m.samples_per_s.value * cell.flops_per_sample);
  if (!share || !used) return {};
  return *used - *share - std::log(static_cast<double>(cell.replicas));
}

std::optional<double> calibrated_loss_of(const harness::CellRecord& cell, Metric metric) {
  if (metric != Metric::kThroughput && metric != Metric::kStepP95) return {};
  const std::optional<double> loss = loss_of(cell, metric), speed = core_speed_of(cell);
  if (!loss || !speed) return {};
  return *loss + *speed;
}

}  // namespace mirrorscale::scenarios

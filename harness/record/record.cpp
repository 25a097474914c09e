#include "harness/record/record.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace mirrorscale::harness {
namespace {

void require(bool holds, std::string_view field, std::string_view expected) {
  if (!holds) throw std::invalid_argument(fmt::format("field {}: expected {}", field, expected));
}

void require_text(const std::string& text, std::string_view field) {
  require(!text.empty(), field, "some text");
}

void require_count(std::int64_t value, std::int64_t least, std::string_view field) {
  require(value >= least, field, fmt::format("{} or more, not {}", least, value));
}

void require_amount(double value, std::string_view field) {
  require(std::isfinite(value) && value >= 0, field,
          fmt::format("a finite number, not negative, not {}", value));
}

void require_amounts(const std::vector<double>& values, std::string_view field) {
  require(!values.empty(), field, "at least one value");
  for (const double value : values) require_amount(value, field);
}

void require_interval(const Interval& interval, std::string_view field) {
  for (const double end : {interval.value, interval.low, interval.high}) require_amount(end, field);
  require(interval.low <= interval.value && interval.value <= interval.high, field, "low <= value <= high");
}

void require_hex(const std::string& text, std::string_view field) {
  require(text.find_first_not_of("0123456789abcdef") == std::string::npos, field,
          "lower-case hexadecimal digits");
}

void require_one_of(const std::string& text, std::initializer_list<std::string_view> words,
                    std::string_view field) {
  require(std::ranges::find(words, text) != words.end(), field,
          fmt::format("one of {}, not \"{}\"", fmt::join(words, ", "), text));
}

bool is_utc_time(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  if (text.size() <= kShape.size()) return false;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == '0' ? !digit : text[i] != kShape[i]) return false;
  }
  std::string_view rest = text.substr(kShape.size());
  if (rest.front() == '.') {
    const std::size_t end = rest.find_first_not_of("0123456789", 1);
    if (end == 1 || end == std::string_view::npos) return false;
    rest.remove_prefix(end);
  }
  return rest == "Z" || rest == "+00:00";
}

void validate(const Environment& environment) {
  require_count(environment.cores, 1, "environment.cores");
  require_count(environment.numa_nodes, 0, "environment.numa_nodes");
  require_count(environment.l1d_bytes, 0, "environment.l1d_bytes");
  require_count(environment.l2_bytes, 0, "environment.l2_bytes");
  require_count(environment.l3_bytes, 0, "environment.l3_bytes");
  require_count(environment.memory_bytes, 0, "environment.memory_bytes");
  require_text(environment.backend, "environment.backend");
  require_text(environment.target, "environment.target");
  for (const std::string& target : environment.targets) require_text(target, "environment.targets");
  require_one_of(environment.numerics, {"exact", "fast"}, "environment.numerics");
  for (const CudaDevice& device : environment.cuda_devices) {
    require_text(device.name, "environment.cuda_devices.name");
    require_text(device.model, "environment.cuda_devices.model");
    require_count(device.memory_bytes, 1, "environment.cuda_devices.memory_bytes");
  }
}

void require_finite(const PlanValue& value, const std::string& field) {
  if (const auto* number = std::get_if<double>(&value))
    require(std::isfinite(*number), field, "a finite number");
}

/// Of a measurement of so many steps on so many replicas.
void validate(const Clocks& clocks, std::int64_t steps, std::int64_t replicas) {
  for (const auto& [name, count] : {std::pair{"preempted_steps", clocks.preempted_steps},
                                    std::pair{"throttled_steps", clocks.throttled_steps},
                                    std::pair{"disturbed_steps", clocks.disturbed_steps}}) {
    require(0 <= count && count <= steps, std::string("measurement.clocks.") + name,
            fmt::format("0 to {}, the steps, not {}", steps, count));
  }
  const auto count = static_cast<std::size_t>(replicas);
  const auto require_one_a_replica = [&](const auto& values, bool needed, const char* name) {
    const std::string field = std::string("measurement.clocks.") + name;
    require(
        values.size() == count || (!needed && values.empty()), field,
        fmt::format("one value a replica ({}){}, not {}", count, needed ? "" : " or none", values.size()));
    for (const auto value : values) require_amount(static_cast<double>(value), field);
  };
  require_one_a_replica(clocks.cpu_s_per_step, true, "cpu_s_per_step");
  require_one_a_replica(clocks.preemptions, true, "preemptions");
  require_one_a_replica(clocks.core_wait_s_per_step, false, "core_wait_s_per_step");
  require_one_a_replica(clocks.instructions_per_step, false, "instructions_per_step");
  if (clocks.core_hz) require_interval(*clocks.core_hz, "measurement.clocks.core_hz");
  if (clocks.steal_share) {
    require(0 <= *clocks.steal_share && *clocks.steal_share <= 1, "measurement.clocks.steal_share", "0 to 1");
  }
  for (const GpuClocks& gpu : clocks.gpus) {
    require_count(gpu.looks, 1, "measurement.clocks.gpus.looks");
    for (const auto& [name, range] :
         {std::pair{"sm_hz", &gpu.sm_hz}, std::pair{"memory_hz", &gpu.memory_hz},
          std::pair{"temperature_c", &gpu.temperature_c}, std::pair{"power_w", &gpu.power_w}}) {
      if (*range) require_interval(**range, std::string("measurement.clocks.gpus.") + name);
    }
  }
}

/// `apart`: why the cell makes no scaling claim, "oversubscribed" or "emulated"; empty where it may.
void validate(const Measurement& measurement, std::string_view apart) {
  require_count(measurement.slices, 1, "measurement.slices");
  require_count(measurement.steps_per_slice, 1, "measurement.steps_per_slice");
  require_count(measurement.steps, 1, "measurement.steps");
  require_count(measurement.warmup_steps, 0, "measurement.warmup_steps");
  require_amount(measurement.step_p50_s, "measurement.step_p50_s");
  require_amount(measurement.step_p95_s, "measurement.step_p95_s");
  require_amount(measurement.step_min_s, "measurement.step_min_s");
  require_interval(measurement.samples_per_s, "measurement.samples_per_s");
  if (measurement.speedup) require_interval(*measurement.speedup, "measurement.speedup");
  if (measurement.efficiency) require_interval(*measurement.efficiency, "measurement.efficiency");
  require(apart.empty() || (!measurement.speedup && !measurement.efficiency), "measurement.efficiency",
          fmt::format("null, as speedup, for an {} cell: it makes no scaling claim", apart));
  require(measurement.confidence > 0 && measurement.confidence < 1, "measurement.confidence",
          "between 0 and 1");
  require_text(measurement.method, "measurement.method");
  const PhasesS& phases = measurement.phases_s;
  for (const double seconds :
       {phases.input, phases.forward, phases.backward, phases.reduction, phases.optimizer, phases.wait}) {
    require_amount(seconds, "measurement.phases_s");
  }
  if (measurement.fma_peak_share) require_amount(*measurement.fma_peak_share, "measurement.fma_peak_share");
  require_amounts(measurement.slice_samples_per_s, "measurement.slice_samples_per_s");
  require(
      !measurement.slice_start_s.empty() &&
          std::ranges::all_of(measurement.slice_start_s, [](double start) { return std::isfinite(start); }),
      "measurement.slice_start_s", "at least one finite value");
  require(measurement.slice_start_s.size() == measurement.slice_samples_per_s.size(),
          "measurement.slice_start_s", "as many values as slice_samples_per_s");
  require_amounts(measurement.step_s, "measurement.step_s");
  require(measurement.step_s.size() <= kStepsKept, "measurement.step_s",
          fmt::format("at most {} values", kStepsKept));
}

}  // namespace

std::string_view to_word(Scaling scaling) {
  return scaling == Scaling::kStrong ? "strong" : "weak";
}

std::string_view to_word(CellStatus status) {
  switch (status) {
    case CellStatus::kOk:
      return "ok";
    case CellStatus::kFailed:
      return "failed";
    case CellStatus::kError:
      return "error";
    case CellStatus::kSkipped:
      return "skipped";
  }
  throw std::logic_error("[to_word] no such status");
}

Scaling scaling_from_word(std::string_view word) {
  for (const Scaling scaling : {Scaling::kStrong, Scaling::kWeak}) {
    if (word == to_word(scaling)) return scaling;
  }
  throw std::invalid_argument(fmt::format("scaling \"{}\"; expected strong or weak", word));
}

CellStatus cell_status_from_word(std::string_view word) {
  for (const CellStatus status :
       {CellStatus::kOk, CellStatus::kFailed, CellStatus::kError, CellStatus::kSkipped}) {
    if (word == to_word(status)) return status;
  }
  throw std::invalid_argument(fmt::format("status \"{}\"; expected ok, failed, error or skipped", word));
}

std::string_view to_word(ReasonKind kind) {
  switch (kind) {
    case ReasonKind::kOther:
      return "other";
    case ReasonKind::kOutOfMemory:
      return "out_of_memory";
    case ReasonKind::kDeviceFailed:
      return "device_failed";
    case ReasonKind::kDisturbed:
      return "disturbed";
  }
  throw std::logic_error("[to_word] no such kind of reason");
}

ReasonKind reason_kind_from_word(std::string_view word) {
  for (const ReasonKind kind :
       {ReasonKind::kOther, ReasonKind::kOutOfMemory, ReasonKind::kDeviceFailed, ReasonKind::kDisturbed}) {
    if (word == to_word(kind)) return kind;
  }
  throw std::invalid_argument(
      fmt::format("kind of reason \"{}\"; expected other, out_of_memory, device_failed or disturbed", word));
}

std::vector<double> thin_out(const std::vector<double>& values, std::size_t most) {
  if (most < 2)
    throw std::invalid_argument(fmt::format("[thin_out] to {} values; expected at least 2", most));
  if (values.size() <= most) return values;
  std::vector<double> kept(most);
  for (std::size_t i = 0; i < most; ++i) kept[i] = values[i * (values.size() - 1) / (most - 1)];
  return kept;
}

void validate(const RunRecord& run) {
  require_text(run.run_id, "run_id");
  require(is_utc_time(run.started), "started",
          fmt::format("a time as 2024-06-07T09:30:00Z, not \"{}\"", run.started));
  require(!run.command.empty(), "command", "at least the program's name");
  require_text(run.version, "version");
  require_text(run.git_revision, "git_revision");
  for (const auto& [field, text] : {std::pair{"plan_fingerprint", &run.plan_fingerprint},
                                    std::pair{"machine_fingerprint", &run.machine_fingerprint}}) {
    require_text(*text, field);
    require_hex(*text, field);
  }
  for (const auto& [name, values] : run.plan.axes) {
    for (const PlanValue& value : values) require_finite(value, "plan.axes." + name);
  }
  for (const auto& [name, value] : run.plan.settings) require_finite(value, "plan.settings." + name);
  validate(run.environment);
}

void validate(const CellRecord& cell) {
  require_text(cell.run_id, "run_id");
  require_text(cell.cell_key, "cell_key");
  require_text(cell.workload, "workload");
  require_text(cell.dataset, "dataset");
  require_text(cell.optimizer, "optimizer");
  require_text(cell.backend, "backend");
  require_text(cell.target, "target");
  require_one_of(cell.strategy, {"one_device", "mirrored"}, "strategy");
  require_one_of(cell.reduction, {"fused", "replicated", "bucketed"}, "reduction");
  require_one_of(cell.numerics, {"exact", "fast"}, "numerics");
  require_one_of(cell.precision, {"fp32", "tf32", "bf16", "fp16"}, "precision");
  require(cell.precision == "fp32" || cell.numerics == "fast", "precision", "fp32, as numerics is exact");
  if (!cell.cross_device_ops.empty()) {
    require_one_of(cell.cross_device_ops, {"default", "nccl", "reduction_to_one_device", "hierarchical_copy"},
                   "cross_device_ops");
  }
  require_count(cell.replicas, 1, "replicas");
  require(cell.devices.size() == static_cast<std::size_t>(cell.replicas), "devices",
          fmt::format("one a replica ({}), not {}", cell.replicas, cell.devices.size()));
  for (const std::string& device : cell.devices) require_text(device, "devices");
  require_count(cell.global_batch, 1, "global_batch");
  require_count(cell.local_batch, 1, "local_batch");
  const std::int64_t local = (cell.global_batch + cell.replicas - 1) / cell.replicas;
  require(cell.local_batch == local, "local_batch",
          fmt::format("global_batch / replicas, rounded up ({}), not {}", local, cell.local_batch));
  require_count(cell.parameters, 0, "parameters");
  require_amount(cell.flops_per_sample, "flops_per_sample");
  require_hex(cell.weight_hash, "weight_hash");
  require_count(cell.memory.predicted_bytes_per_device, 0, "memory.predicted_bytes_per_device");
  require_count(cell.memory.process_peak_bytes, 0, "memory.process_peak_bytes");
  for (const Verdict& check : cell.checks) require_text(check.invariant, "checks.invariant");
  for (const auto& [name, value] : cell.evaluation) {
    require(std::isfinite(value), "evaluation." + name, "a finite number");
  }

  const bool ok = cell.status == CellStatus::kOk;
  require(cell.measurement.has_value() == ok, "measurement",
          ok ? "an object, as status is ok" : "null, as status is not ok");
  require(cell.reason.empty() == ok, "reason",
          ok ? "no text, as status is ok" : "some text, as status is not ok");
  require(!ok || cell.reason_kind == ReasonKind::kOther, "reason_kind", "none, as status is ok");
  require(!ok || !cell.weight_hash.empty(), "weight_hash", "some text, as status is ok");
  const bool broken = any_failed(cell.checks);
  require(!ok || !broken, "checks", "none failed, as status is ok");
  require(cell.status != CellStatus::kFailed || broken, "checks", "one that failed, as status is failed");
  if (cell.measurement) {
    validate(*cell.measurement, cell.oversubscribed ? "oversubscribed" : cell.emulated ? "emulated" : "");
    const auto& clocks = cell.measurement->clocks;
    if (clocks) validate(*clocks, cell.measurement->steps, cell.replicas);
  }
}

}  // namespace mirrorscale::harness

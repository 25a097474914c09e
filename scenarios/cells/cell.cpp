#include "scenarios/cells/cell.h"

#include "kernels/backend.h"
#include "kernels/device_list.h"
#include "scenarios/workloads/workload.h"
#include "strategies/comm/placement.h"

#include <algorithm>

namespace mirrorscale::scenarios {

std::string CellSpec::key() const {
  return group() + "/devices=" + std::to_string(devices);
}

std::string CellSpec::settings() const {
  std::string text = workload + "/data=" + data + "/optimizer=" + optimizer +
                     "/seed=" + std::to_string(seed) + "/backend=" + backend + "/reduction=" + reduction;
  if (backend == "cuda") {
    text += "/numerics=" + numerics + "/precision=" + precision + "/cross_device_ops=" + cross_device_ops;
    if (graphs) text += "/graphs";
    if (registered_buffers) text += "/registered_buffers";
  }
  return text + "/" + std::string(harness::to_word(scaling));
}

std::string CellSpec::series() const {
  return settings() + "/devices=" + std::to_string(devices);
}

std::string CellSpec::group() const {
  const bool strong = scaling == harness::Scaling::kStrong;
  return settings() + (strong ? "/global_batch=" + std::to_string(global_batch)
                              : "/local_batch=" + std::to_string(local_batch()));
}

CellSpec on_one_cpu(CellSpec spec) {
  static_cast<DeviceSettings&>(spec) = CellSpec();
  spec.devices = 1;
  return spec;
}

strategies::EngineParts parts_of(const CellSpec& spec) {
  strategies::EngineParts parts;
  parts.make_reducer = [name = spec.reduction] { return strategies::make_reducer(name); };
  return parts;
}

strategies::Strategy make_strategy(const CellSpec& spec, const strategies::EngineParts& parts) {
  const strategies::StrategyOptions options = strategy_options(spec, parts, spec.wait_limit_s);
  if (spec.devices == 1) return strategies::OneDevice(spec.backend + ":0", options);
  return strategies::Mirrored(strategies::device_names(spec.devices, spec.backend), options);
}

strategies::Model make_model(const CellSpec& spec, const strategies::Dataset& data,
                             const strategies::Strategy& strategy) {
  return make_model(find_workload(spec.workload), data, strategy,
                    {.optimizer = spec.optimizer, .seed = spec.seed, .global_batch = spec.global_batch});
}

strategies::Network network_of(const CellSpec& spec, const strategies::Dataset& data) {
  const Workload& workload = find_workload(spec.workload);
  const RowShape shape = shape_of(data);
  return {workload.input_of(shape), workload.layers(shape)};
}

std::size_t planned_bytes(const CellSpec& spec, const strategies::Dataset& data) {
  return strategies::Session::planned_bytes(
      make_strategy(spec), network_of(spec, data), data, spec.global_batch,
      *strategies::make_optimizer(spec.optimizer, {.global_batch = spec.global_batch}));
}

bool oversubscribed(const CellSpec& spec) {
  // A GPU isn't shared: a cell with more replicas than GPUs is refused.
  return spec.backend != "cuda" && static_cast<std::size_t>(spec.devices) > strategies::usable_units().size();
}

bool emulated(const CellSpec& spec) {
  if (spec.backend != "cuda") return false;
  const kernels::DeviceList list = kernels::cuda_devices();
  return std::any_of(list.devices.begin(), list.devices.end(), [](const auto& d) { return d.emulated; });
}

std::string target_of(const std::string& backend) {
  if (backend != "cuda") return kernels::make_backend(backend)->info().target;
  const kernels::DeviceList list = kernels::cuda_devices();  // no device is opened to learn its name
  return list.devices.empty() ? "none" : list.devices.front().model;
}

harness::CellRecord describe(const CellSpec& spec, const std::string& run_id,
                             const strategies::Dataset& data) {
  const strategies::Network network = network_of(spec, data);
  const strategies::Strategy strategy = make_strategy(spec);
  harness::CellRecord record;
  record.run_id = run_id;
  record.cell_key = spec.key();
  record.workload = spec.workload;
  record.dataset = data.name();
  record.synthetic = data.synthetic();
  record.strategy = strategy.kind();
  record.reduction = spec.reduction;
  record.devices = strategy.devices();
  record.replicas = spec.devices;
  record.global_batch = spec.global_batch;
  record.local_batch = spec.local_batch();
  record.scaling = spec.scaling;
  record.optimizer = spec.optimizer;
  record.seed = spec.seed;
  record.backend = spec.backend;
  record.target = target_of(spec.backend);
  record.numerics = spec.numerics;
  record.precision = precision_in_record(spec.precision);
  if (spec.backend == "cuda") record.cross_device_ops = spec.cross_device_ops;
  record.graphs = spec.graphs;
  record.registered_buffers = spec.registered_buffers;
  record.emulated = emulated(spec);
  record.oversubscribed = oversubscribed(spec);
  record.parameters = static_cast<std::int64_t>(network.parameters().count());
  record.flops_per_sample = network.flops_per_row();
  record.memory.predicted_bytes_per_device = static_cast<std::int64_t>(planned_bytes(spec, data));
  record.status = harness::CellStatus::kSkipped;
  return record;
}

}  // namespace mirrorscale::scenarios

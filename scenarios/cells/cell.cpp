#include "scenarios/cells/cell.h"

#include "kernels/backend.h"
#include "scenarios/workloads/workload.h"
#include "strategies/comm/placement.h"

namespace mirrorscale::scenarios {

std::string CellSpec::key() const {
  return group() + "/devices=" + std::to_string(devices);
}

std::string CellSpec::group() const {
  const bool strong = scaling == harness::Scaling::kStrong;
  return workload + "/data=" + data + "/optimizer=" + optimizer + "/seed=" + std::to_string(seed) +
         "/backend=" + backend + "/reduction=" + reduction + "/" + std::string(harness::to_word(scaling)) +
         (strong ? "/global_batch=" + std::to_string(global_batch)
                 : "/local_batch=" + std::to_string(local_batch()));
}

strategies::EngineParts parts_of(const CellSpec& spec) {
  strategies::EngineParts parts;
  parts.make_reducer = [name = spec.reduction] { return strategies::make_reducer(name); };
  return parts;
}

strategies::Strategy make_strategy(const CellSpec& spec, const strategies::EngineParts& parts) {
  const strategies::StrategyOptions options{parts, {}};
  if (spec.devices == 1) return strategies::OneDevice(spec.backend + ":0", options);
  return strategies::Mirrored(strategies::device_names(spec.devices, spec.backend), options);
}

strategies::Model make_model(const CellSpec& spec, const strategies::Dataset& data,
                             const strategies::Strategy& strategy) {
  const Workload& workload = find_workload(spec.workload);
  const auto scope = strategy.scope();
  strategies::Model model(data.features(), workload.layers(shape_of(data)),
                          {.name = workload.name, .seed = spec.seed});
  model.compile(spec.optimizer, workload.loss, workload.metrics);
  return model;
}

harness::CellRecord describe(const CellSpec& spec, const std::string& run_id,
                             const strategies::Dataset& data) {
  const Workload& workload = find_workload(spec.workload);
  const strategies::Network network(data.features(), workload.layers(shape_of(data)));
  const strategies::Strategy strategy = make_strategy(spec);
  const auto backend = kernels::make_backend(spec.backend);
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
  record.target = backend->info().target;
  record.numerics = backend->info().numerics;
  record.oversubscribed = static_cast<std::size_t>(spec.devices) > strategies::usable_units().size();
  record.parameters = static_cast<std::int64_t>(network.parameters().count());
  record.flops_per_sample = network.flops_per_row();
  record.memory.predicted_bytes_per_device = static_cast<std::int64_t>(strategies::Session::planned_bytes(
      strategy, network, data, spec.global_batch,
      static_cast<int>(strategies::make_optimizer(spec.optimizer)->slots().size())));
  record.status = harness::CellStatus::kSkipped;
  return record;
}

}  // namespace mirrorscale::scenarios

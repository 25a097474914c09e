#include "scenarios/sweep/plan.h"

#include "kernels/backend.h"
#include "scenarios/model_file/model_file.h"
#include "scenarios/workloads/workload.h"
#include "strategies/engine/optimizer.h"
#include "strategies/reducer.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

int to_int(std::int64_t value, const char* axis) {
  if (value >= 1 && value <= std::numeric_limits<int>::max() / 64) return static_cast<int>(value);
  throw std::invalid_argument(std::string("[sweep] ") + axis + " " + std::to_string(value) +
                              " is out of range");
}

template <class T>
std::vector<harness::PlanValue> values_of(const std::vector<T>& axis) {
  return {axis.begin(), axis.end()};
}

}  // namespace

DeviceSettings devices_of(const SweepPlan& plan) {
  return resolved(plan);
}

std::vector<CellGroup> groups_of(const SweepPlan& plan) {
  if (plan.global_batches.empty() && plan.local_batches.empty()) {
    throw std::invalid_argument(
        "[sweep] no batch axis; give --global-batch (strong scaling) or --local-batch (weak)");
  }
  if (!(plan.most_disturbed >= 0 && plan.most_disturbed <= 1)) {
    throw std::invalid_argument("[sweep] most_disturbed " + std::to_string(plan.most_disturbed) +
                                "; expected a share of the steps, 0 to 1");
  }
  const DeviceSettings on = devices_of(plan);
  if (on.backend != "cuda") kernels::make_backend(on.backend);  // its instruction set may be no good
  for (const std::string& optimizer : plan.optimizers) strategies::check_optimizer(optimizer);
  std::vector<std::int64_t> devices = plan.devices;
  std::sort(devices.begin(), devices.end());
  if (on.backend == "cuda")
    require_devices(strategies::device_names(to_int(devices.back(), "devices"), "cuda"));
  std::vector<CellGroup> groups;
  const auto add = [&](const CellSpec& base, std::int64_t batch, harness::Scaling scaling) {
    CellGroup group;
    for (const std::int64_t n : devices) {
      CellSpec cell = base;
      cell.devices = to_int(n, "devices");
      cell.scaling = scaling;
      to_int(batch, "batch");
      cell.global_batch = scaling == harness::Scaling::kStrong ? to_int(batch, "global batch")
                                                               : to_int(batch * n, "local batch");
      group.push_back(std::move(cell));
    }
    groups.push_back(std::move(group));
  };
  for (const std::string& name : plan.workloads) {
    const Workload& workload = find_workload(name);
    const std::vector<std::string> optimizers =
        plan.optimizers.empty() ? std::vector{workload.optimizer} : plan.optimizers;
    for (const std::string& optimizer : optimizers) {
      for (const std::int64_t seed : plan.seeds) {
        CellSpec base;
        base.workload = name;
        base.data = plan.data.empty() ? workload.data : plan.data;
        base.optimizer = optimizer;
        base.seed = static_cast<std::uint64_t>(seed);
        static_cast<DeviceSettings&>(base) = on;
        base.wait_limit_s = plan.wait_limit_s;
        for (const std::int64_t batch : plan.global_batches) add(base, batch, harness::Scaling::kStrong);
        for (const std::int64_t batch : plan.local_batches) add(base, batch, harness::Scaling::kWeak);
      }
    }
  }
  return groups;
}

harness::Plan to_record(const SweepPlan& plan) {
  harness::Plan record;
  record.axes = {{"workload", values_of(plan.workloads)}, {"devices", values_of(plan.devices)}};
  if (!plan.global_batches.empty()) record.axes.emplace_back("global_batch", values_of(plan.global_batches));
  if (!plan.local_batches.empty()) record.axes.emplace_back("local_batch", values_of(plan.local_batches));
  if (!plan.optimizers.empty()) record.axes.emplace_back("optimizer", values_of(plan.optimizers));
  record.axes.emplace_back("seed", values_of(plan.seeds));
  const DeviceSettings on = devices_of(plan);
  record.settings = {{"data", plan.data},
                     {"backend", on.backend},
                     {"reduction", on.reduction},
                     {"budget_s", plan.stopping.budget_s},
                     {"relative_half_width", plan.stopping.relative_half_width},
                     {"fewest_slices", static_cast<std::int64_t>(plan.stopping.fewest_slices)},
                     {"most_slices", static_cast<std::int64_t>(plan.stopping.most_slices)},
                     {"slice_s", plan.slice_s}};
  if (plan.most_disturbed < 1) record.settings.emplace_back("most_disturbed", plan.most_disturbed);
  for (const std::string& name : plan.workloads) {
    if (names_a_model_file(name)) record.settings.emplace_back("sha256 of " + name, model_file_hash(name));
  }
  if (on.backend == "cuda") {
    record.settings.emplace_back("numerics", on.numerics);
    record.settings.emplace_back("precision", on.precision);
    record.settings.emplace_back("cross_device_ops", on.cross_device_ops);
    if (on.graphs) record.settings.emplace_back("graphs", true);
    if (on.registered_buffers) record.settings.emplace_back("registered_buffers", true);
  }
  return record;
}

}  // namespace mirrorscale::scenarios

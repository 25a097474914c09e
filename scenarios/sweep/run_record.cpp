#include "scenarios/sweep/run_record.h"

#include "harness/record/environment.h"
#include "harness/record/json.h"
#include "kernels/backend.h"
#include "kernels/device_list.h"
#include "strategies/comm/device_group.h"
#include "strategies/trace/range.h"

#include <algorithm>

namespace mirrorscale::scenarios {
namespace {

/// The first `most` GPUs, and the libraries that drive them.
void add_gpus(std::size_t most, harness::Environment& environment) {
  const kernels::DeviceList list = kernels::cuda_devices();
  for (std::size_t i = 0; i < std::min(most, list.devices.size()); ++i) {
    const kernels::DeviceInfo& d = list.devices[i];
    environment.cuda_devices.push_back({d.name, d.model, d.uuid, d.pci,
                                        std::to_string(d.major) + "." + std::to_string(d.minor),
                                        static_cast<std::int64_t>(d.memory_bytes), d.emulated});
  }
  environment.libraries["cuda-runtime"] = kernels::cuda_version_text(list.runtime_version);
  environment.libraries["cuda-driver"] = kernels::cuda_version_text(list.driver_version);
  if (!list.cublas_version.empty()) environment.libraries["cublas"] = list.cublas_version;
  const std::string nccl = strategies::nccl_version();
  if (!nccl.empty()) environment.libraries["nccl"] = nccl;
}

}  // namespace

harness::RunRecord run_record(const SweepPlan& plan, const std::vector<std::string>& command) {
  const DeviceSettings on = devices_of(plan);
  harness::RunRecord run;
  run.run_id = harness::make_run_id();
  run.started = harness::utc_now();
  run.command = command;
  run.version = harness::version();
  run.git_revision = harness::git_revision();
  run.plan = to_record(plan);
  run.plan_fingerprint = harness::plan_fingerprint(run.plan);
  run.environment = harness::detect_environment();
  run.environment.backend = on.backend;
  run.environment.target = target_of(on.backend);
  run.environment.targets = kernels::cpu_targets();
  run.environment.numerics = on.numerics;
  run.environment.nvtx = strategies::trace_available();
  if (on.backend == "cuda") {
    add_gpus(static_cast<std::size_t>(*std::max_element(plan.devices.begin(), plan.devices.end())),
             run.environment);
  }
  run.machine_fingerprint = harness::machine_fingerprint(run.environment);
  return run;
}

}  // namespace mirrorscale::scenarios

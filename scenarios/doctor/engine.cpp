#include "harness/record/environment.h"
#include "kernels/backend.h"
#include "scenarios/doctor/doctor.h"
#include "scenarios/workloads/workload.h"
#include "strategies/input/synthetic.h"
#include "strategies/trace/range.h"

#include <exception>
#include <string>

namespace mirrorscale::scenarios {
namespace {

std::string hash_after_training(const strategies::Strategy& strategy) {
  const auto data = strategies::make_clusters({.rows = {100, 0}}).train;
  strategies::Model model = make_model(find_workload("mlp-small"), *data, strategy);
  strategies::FitOptions fit;
  fit.epochs = 2;
  model.fit(data, fit);
  return model.weight_hash();
}

Finding cpu_backend() {
  try {
    const kernels::BackendInfo info = kernels::make_backend("cpu")->info();
    std::string text =
        "instruction set " + info.target + ", " + std::to_string(info.lanes) + " floats at a time";
    std::string others;
    for (const std::string& target : kernels::cpu_targets()) {
      if (target != info.target) others += (others.empty() ? "" : ", ") + target;
    }
    if (!others.empty()) text += "; also here: " + others + " (MIRRORSCALE_CPU_TARGET chooses)";
    return {"cpu backend", text};
  } catch (const std::exception& error) {
    return {"cpu backend", error.what(), FindingState::kBroken,
            "unset MIRRORSCALE_CPU_TARGET, or correct it"};
  }
}

/// Eight steps of training on two devices must give the bits of the plain loops on one.
Finding self_check() {
  try {
    const std::string ours = hash_after_training(strategies::Mirrored(2));
    const std::string meant = hash_after_training(strategies::OneDevice("reference:0"));
    if (ours == meant) return {"self-check", "2 cpu devices give the bits of the reference backend: " + ours};
    return {"self-check", "2 cpu devices end with weights " + ours + ", the reference backend with " + meant,
            FindingState::kBroken,
            "try another instruction set (MIRRORSCALE_CPU_TARGET); if that mends it, suspect this processor "
            "or compiler"};
  } catch (const std::exception& error) {
    return {"self-check", error.what(), FindingState::kBroken, ""};
  }
}

}  // namespace

FindingSection examine_engine() {
  FindingSection section{"engine", {}};
  const harness::Environment environment = harness::detect_environment();
  section.findings.push_back({"version", harness::version() + ", revision " + harness::git_revision()});
  section.findings.push_back({"build", environment.build_type + ", " + environment.compiler});
  if (environment.build_type == "Debug") {
    section.findings.back().state = FindingState::kNote;
    section.findings.back().mend = "measure with a release build (cmake --preset release)";
  }
  section.findings.push_back(cpu_backend());
  section.findings.push_back(self_check());
  section.findings.push_back(
      {"numerics", "exact: the same bits on any number of devices and any instruction set"});
  section.findings.push_back(
      strategies::trace_available()
          ? Finding{"NVTX", "phases of a step are marked for profilers (Nsight Systems)"}
          : Finding{"NVTX", "not in this build: profilers see no phases", FindingState::kMissing,
                    "install the CUDA toolkit's headers (nvtx3; Debian non-free: nvidia-cuda-toolkit) and "
                    "build again"});
  return section;
}

}  // namespace mirrorscale::scenarios

#include "harness/output/format.h"
#include "kernels/device_list.h"
#include "scenarios/doctor/doctor.h"
#include "strategies/comm/device_group.h"

#include <algorithm>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

constexpr const char* kWithoutGpu = "nothing is needed to go on without a GPU: the cpu backend works without";

Finding driver_of(const kernels::DeviceList& list) {
  if (list.driver_version == 0) {
    return {
        "driver", "none", FindingState::kMissing,
        std::string("install the GPU's driver (Debian and Ubuntu: nvidia-driver; in a container: docker run "
                    "--gpus all), then nvidia-smi lists the GPU; ") +
            kWithoutGpu};
  }
  const std::string text = "knows CUDA up to " + kernels::cuda_version_text(list.driver_version);
  if (list.driver_version / 1000 < list.runtime_version / 1000) {
    return {"driver", text + ", this build uses CUDA " + kernels::cuda_version_text(list.runtime_version),
            FindingState::kMissing, "install a newer driver, or build with an older CUDA toolkit"};
  }
  return {"driver", text};
}

Finding gpu_of(const kernels::DeviceInfo& d) {
  Finding found{d.name, d.model + ", " + harness::format_bytes(static_cast<std::int64_t>(d.memory_bytes)) +
                            ", compute capability " + std::to_string(d.major) + "." +
                            std::to_string(d.minor) + ", " + std::to_string(d.multiprocessors) +
                            " multiprocessors, PCI " + d.pci + ", " + d.uuid};
  if (d.emulated) {
    found.state = FindingState::kNote;
    found.text += "; emulated: a stand-in that runs on the host, its times mean nothing";
  }
  return found;
}

/// Between GPUs that can't reach each other's memory everything goes through the host's.
Finding peer_access() {
  const auto peers = kernels::cuda_peers();
  std::string without;
  for (std::size_t a = 0; a < peers.size(); ++a) {
    for (std::size_t b = 0; b < peers.size(); ++b) {
      if (a == b || std::find(peers[a].begin(), peers[a].end(), static_cast<int>(b)) != peers[a].end())
        continue;
      without +=
          (without.empty() ? "cuda:" : ", cuda:") + std::to_string(a) + " to cuda:" + std::to_string(b);
    }
  }
  if (without.empty()) return {"peer access", "between all GPUs"};
  return {"peer access", "none from " + without, FindingState::kNote,
          "what these GPUs exchange goes through the host's memory: see 'nvidia-smi topo -p2p r', and "
          "whether the "
          "IOMMU or ACS of the PCI switches is on"};
}

}  // namespace

FindingSection examine_cuda() {
  FindingSection section{"CUDA", {}};
  auto& found = section.findings;
  const kernels::DeviceList list = kernels::cuda_devices();
  if (list.runtime_version == 0) {
    found.push_back(
        {"cuda backend", "not in this build: devices are cores", FindingState::kMissing,
         std::string("to train on GPUs, install the CUDA toolkit (12 or later) with NCCL and build "
                     "with cmake --preset cuda (-DMIRRORSCALE_CUDA=ON); ") +
             kWithoutGpu});
    return section;
  }
  std::string versions =
      "CUDA " + kernels::cuda_version_text(list.runtime_version) + ", cuBLAS " + list.cublas_version;
  versions += ", NCCL " + strategies::nccl_version();
  found.push_back({"cuda backend", versions});
  found.push_back(driver_of(list));
  if (list.devices.empty()) {
    found.push_back({"GPUs", "none: " + list.why_none, FindingState::kMissing, kWithoutGpu});
  }
  for (const kernels::DeviceInfo& device : list.devices) found.push_back(gpu_of(device));
  if (list.devices.size() > 1) found.push_back(peer_access());
  return section;
}

}  // namespace mirrorscale::scenarios

#include "harness/output/format.h"
#include "harness/record/environment.h"
#include "harness/record/topology.h"
#include "scenarios/doctor/doctor.h"
#include "strategies/strategy.h"

#include <algorithm>
#include <string>

namespace mirrorscale::scenarios {
namespace {

using harness::Topology;

std::string counted(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

Finding cores_of(const Topology& machine) {
  const auto threads = static_cast<std::int64_t>(machine.allowed_pus.size());
  Finding cores{"cores", std::to_string(machine.allowed_cores) + " of " +
                             std::to_string(machine.machine_cores) + ", with " + std::to_string(threads) +
                             " of " + counted(machine.machine_pus, "hardware thread") + ", in " +
                             counted(machine.packages, "package")};
  if (machine.cpu_quota_cores > 0 && machine.cpu_quota_cores < machine.allowed_cores) {
    cores.state = FindingState::kNote;
    cores.text += "; the control group grants the time of " + std::to_string(machine.cpu_quota_cores);
    cores.mend = "for steady times let the control group grant whole cores (cpu.max)";
  }
  return cores;
}

Finding devices_of(const Topology& machine) {
  const int cores = machine.usable_cores();
  Finding devices{"devices",
                  "up to " + std::to_string(cores) +
                      " work at the same time; more give the same results and say nothing about speed"};
  if (cores == 1) {
    devices.state = FindingState::kNote;
    devices.mend =
        "with one core scaling can't be measured: results of several devices can be checked, not timed";
  }
  return devices;
}

std::string caches_of(const Topology& machine) {
  std::string text;
  for (const harness::CacheLevel& cache : machine.caches) {
    text += (text.empty() ? "" : ", ") + ("L" + std::to_string(cache.level)) + " " +
            std::to_string(cache.count) + " x " + harness::format_bytes(cache.bytes);
    if (cache.shared_by_cores > 1) text += " (each for " + counted(cache.shared_by_cores, "core") + ")";
  }
  return text.empty() ? "unknown" : text;
}

std::string nodes_of(const Topology& machine) {
  std::string text = counted(static_cast<std::int64_t>(machine.numa_nodes.size()), "node");
  for (const harness::NumaNode& node : machine.numa_nodes) {
    text += ", node " + std::to_string(node.os_index) + ": " + harness::format_bytes(node.memory_bytes) +
            " and " + counted(static_cast<std::int64_t>(node.cores.size()), "core");
  }
  return text;
}

/// Which hardware thread each device's thread is bound to.
Finding pinning(int devices) {
  const strategies::Mirrored all(devices);
  all.run([](const strategies::ReplicaContext&) {});
  Finding found{"pinning", ""};
  for (int d = 0; d < devices; ++d) {
    const int unit = all.team().units()[static_cast<std::size_t>(d)];
    if (unit < 0) found.state = FindingState::kNote;
    found.text += (d == 0 ? "" : ", ") + all.devices()[static_cast<std::size_t>(d)] +
                  (unit < 0 ? " not bound" : " on CPU " + std::to_string(unit));
  }
  if (found.state != FindingState::kFine) {
    found.mend = "the system refuses to bind threads to processors: times will scatter more";
  }
  return found;
}

}  // namespace

FindingSection examine_machine() {
  const Topology machine = harness::detect_topology();
  const harness::Environment environment = harness::detect_environment();
  FindingSection section{"machine", {}};
  auto& found = section.findings;
  found.push_back({"host", environment.host + ", " + environment.os + ", Linux " + environment.kernel});
  found.push_back({"processor", environment.cpu_model});
  found.push_back(cores_of(machine));
  found.push_back(devices_of(machine));
  found.push_back({"caches", caches_of(machine)});
  found.push_back({"memory nodes", nodes_of(machine)});
  std::string memory = harness::format_bytes(machine.memory_bytes);
  if (machine.memory_limit_bytes > 0) {
    memory += ", limited to " + harness::format_bytes(machine.memory_limit_bytes) + " by the control group";
  }
  found.push_back({"memory", memory});
  found.push_back(pinning(machine.usable_cores()));
  return section;
}

}  // namespace mirrorscale::scenarios

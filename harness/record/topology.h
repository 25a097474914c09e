#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mirrorscale::harness {

struct CacheLevel {
  int level = 0;           // 1 is the data cache
  std::int64_t bytes = 0;  // of one
  int count = 0;           // how many on the machine
  int shared_by_cores = 0;
};

struct NumaNode {
  int os_index = 0;
  std::int64_t memory_bytes = 0;
  std::vector<int> cores;  // logical numbers, see Topology
};

/// The machine as this process may use it.
struct Topology {
  int packages = 0;
  int machine_cores = 0, machine_pus = 0;  // hardware threads are PUs
  std::vector<int> allowed_pus;            // OS numbers this process may run on
  int allowed_cores = 0;                   // cores with at least one allowed PU
  /// Cores of CPU time the control group grants; 0 when it sets no limit.
  double cpu_quota_cores = 0;
  std::vector<CacheLevel> caches;  // level 1 first
  std::vector<NumaNode> numa_nodes;
  std::int64_t memory_bytes = 0;        // of the machine
  std::int64_t memory_limit_bytes = 0;  // of the control group; 0 when it sets none

  /// Devices that can work at the same time: allowed cores, fewer under a quota, at least 1.
  int usable_cores() const;
};

/// Throws std::runtime_error when the machine can't be read.
Topology detect_topology();

/// Of hwloc: "2.9.0".
std::string topology_library_version();

}  // namespace mirrorscale::harness

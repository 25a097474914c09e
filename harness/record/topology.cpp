#include "harness/record/topology.h"

#include "harness/record/cgroup.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <hwloc.h>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace mirrorscale::harness {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

HwlocTopology load() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw std::runtime_error("hwloc can't start");
  HwlocTopology topology(raw);
  // The whole machine, so that the report can say what this process may not use.
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(raw) != 0) {
    throw std::runtime_error(std::string("hwloc can't read the machine: ") + std::strerror(errno));
  }
  return topology;
}

/// PUs that control group and affinity both leave to this process.
Bitmap allowed_set(hwloc_topology_t topology) {
  Bitmap allowed(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
  const Bitmap bound(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) == 0) {
    hwloc_bitmap_and(allowed.get(), allowed.get(), bound.get());
  }
  return allowed;
}

std::vector<hwloc_obj_t> objects(hwloc_topology_t topology, hwloc_obj_type_t type) {
  std::vector<hwloc_obj_t> found;
  for (hwloc_obj_t object = nullptr;
       (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;) {
    found.push_back(object);
  }
  return found;
}

std::vector<int> cores_in(hwloc_topology_t topology, hwloc_const_cpuset_t set) {
  std::vector<int> cores;
  for (const hwloc_obj_t core : objects(topology, HWLOC_OBJ_CORE)) {
    if (hwloc_bitmap_intersects(core->cpuset, set) != 0)
      cores.push_back(static_cast<int>(core->logical_index));
  }
  return cores;
}

std::vector<CacheLevel> caches(hwloc_topology_t topology) {
  std::vector<CacheLevel> levels;
  for (const hwloc_obj_type_t type :
       {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE}) {
    const auto found = objects(topology, type);
    if (found.empty()) continue;
    const hwloc_obj_t first = found.front();
    levels.push_back({.level = static_cast<int>(first->attr->cache.depth),
                      .bytes = static_cast<std::int64_t>(first->attr->cache.size),
                      .count = static_cast<int>(found.size()),
                      .shared_by_cores = static_cast<int>(cores_in(topology, first->cpuset).size())});
  }
  return levels;
}

std::int64_t memory_total_bytes() {
  std::ifstream stream("/proc/meminfo");
  for (std::string name, unit; stream >> name;) {
    std::int64_t kib = 0;
    if (!(stream >> kib)) break;
    std::getline(stream, unit);
    if (name == "MemTotal:") return kib * 1024;
  }
  return 0;
}

}  // namespace

int Topology::usable_cores() const {
  const double quota = cpu_quota_cores > 0 ? cpu_quota_cores : allowed_cores;
  // A quota of 1.99 is meant as 2.
  return std::max(1, std::min(allowed_cores, static_cast<int>(std::floor(quota + 0.05))));
}

Topology detect_topology() {
  const HwlocTopology topology = load();
  const Bitmap allowed = allowed_set(topology.get());
  const CgroupLimits limits = detect_cgroup_limits();

  Topology found;
  found.packages = static_cast<int>(objects(topology.get(), HWLOC_OBJ_PACKAGE).size());
  found.machine_cores = static_cast<int>(objects(topology.get(), HWLOC_OBJ_CORE).size());
  for (const hwloc_obj_t pu : objects(topology.get(), HWLOC_OBJ_PU)) {
    ++found.machine_pus;
    if (hwloc_bitmap_isset(allowed.get(), pu->os_index) != 0)
      found.allowed_pus.push_back(static_cast<int>(pu->os_index));
  }
  if (found.machine_pus == 0) throw std::runtime_error("hwloc found no processor on this machine");
  if (found.machine_cores == 0) {
    // Some virtual machines hide their cores: a PU is the best name for one then.
    found.machine_cores = found.machine_pus;
    found.allowed_cores = static_cast<int>(found.allowed_pus.size());
  } else {
    found.allowed_cores = static_cast<int>(cores_in(topology.get(), allowed.get()).size());
  }
  found.caches = caches(topology.get());
  for (const hwloc_obj_t node : objects(topology.get(), HWLOC_OBJ_NUMANODE)) {
    found.numa_nodes.push_back({.os_index = static_cast<int>(node->os_index),
                                .memory_bytes = static_cast<std::int64_t>(node->attr->numanode.local_memory),
                                .cores = cores_in(topology.get(), node->cpuset)});
  }
  found.memory_bytes = memory_total_bytes();
  found.cpu_quota_cores = limits.cpu_quota_cores;
  found.memory_limit_bytes = limits.memory_bytes;
  return found;
}

std::string topology_library_version() {
  return HWLOC_VERSION;
}

}  // namespace mirrorscale::harness

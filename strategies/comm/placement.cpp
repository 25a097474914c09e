#include "strategies/comm/placement.h"

#include <cerrno>
#include <cstring>
#include <hwloc.h>
#include <memory>
#include <sched.h>
#include <stdexcept>
#include <string>

namespace mirrorscale::strategies {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw std::runtime_error("[placement] hwloc_topology_init failed");
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0)
    throw std::runtime_error("[placement] hwloc can't read this machine's topology");
  return topology;
}

}  // namespace

std::vector<int> usable_units() {
  const Topology topology = load_topology();
  const std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> mine(hwloc_bitmap_alloc(),
                                                                       &hwloc_bitmap_free);
  if (hwloc_get_cpubind(topology.get(), mine.get(), HWLOC_CPUBIND_THREAD) != 0) {
    hwloc_bitmap_copy(mine.get(), hwloc_topology_get_allowed_cpuset(topology.get()));
  }
  std::vector<int> first, others;
  const int cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE);
  for (int c = 0; c < cores; ++c) {
    const hwloc_obj_t core = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_CORE, static_cast<unsigned>(c));
    bool taken = false;
    for (int unit = hwloc_bitmap_first(core->cpuset); unit >= 0;
         unit = hwloc_bitmap_next(core->cpuset, unit)) {
      if (hwloc_bitmap_isset(mine.get(), static_cast<unsigned>(unit)) == 0) continue;
      (taken ? others : first).push_back(unit);
      taken = true;
    }
  }
  first.insert(first.end(), others.begin(), others.end());
  for (int unit = hwloc_bitmap_first(mine.get()); first.empty() && unit >= 0;
       unit = hwloc_bitmap_next(mine.get(), unit)) {
    first.push_back(unit);  // a machine whose cores hwloc can't see
  }
  if (first.empty()) first.push_back(0);
  return first;
}

void bind_this_thread(int unit) {
  // hwloc's own binding of threads is per topology object; the system call is enough for one unit.
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(unit), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw std::runtime_error("[placement] can't bind a thread to CPU " + std::to_string(unit) + ": " +
                             std::strerror(errno));
  }
}

}  // namespace mirrorscale::strategies

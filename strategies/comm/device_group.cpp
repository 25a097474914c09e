#include "strategies/comm/device_group.h"

#include "strategies/comm/copies/group.h"
#include "strategies/comm/host_group.h"
#include "strategies/comm/nccl/group.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace mirrorscale::strategies {
namespace {

constexpr std::array<std::pair<const char*, CrossDeviceOps>, 4> kNames{{
    {"default", CrossDeviceOps::kDefault},
    {"nccl", CrossDeviceOps::kNccl},
    {"reduction_to_one_device", CrossDeviceOps::kReductionToOneDevice},
    {"hierarchical_copy", CrossDeviceOps::kHierarchicalCopy},
}};

std::string name_of(CrossDeviceOps ops) {
  for (const auto& [name, value] : kNames) {
    if (value == ops) return name;
  }
  throw std::logic_error("[cross_device_ops] no such value: " + std::to_string(static_cast<int>(ops)));
}

}  // namespace

CrossDeviceOps cross_device_ops_from(std::string_view name) {
  std::string names;
  for (const auto& [known, ops] : kNames) {
    if (name == known) return ops;
    names += std::string(names.empty() ? "" : ", ") + known;
  }
  throw std::invalid_argument("[cross_device_ops] there is no '" + std::string(name) + "'; known are " +
                              names);
}

std::unique_ptr<DeviceGroup> make_device_group(std::string_view backend, int ranks,
                                               const DeviceGroupOptions& options) {
  if (ranks < 1) {
    throw std::invalid_argument("[device_group] needs at least 1 rank, not " + std::to_string(ranks));
  }
  const std::string ops = name_of(options.ops);
  if (backend == "cpu" || backend == "reference") {
    if (options.ops == CrossDeviceOps::kDefault) return make_host_group();
    throw std::invalid_argument("[device_group] cross-device ops '" + ops +
                                "' are for the cuda backend; threads of the '" + std::string(backend) +
                                "' backend read each other's memory ('default')");
  }
  if (backend != "cuda") {
    throw std::invalid_argument("[device_group] there is no backend '" + std::string(backend) +
                                "'; known are cpu, reference, cuda");
  }
  switch (options.ops) {
    case CrossDeviceOps::kDefault:
    case CrossDeviceOps::kNccl:
      return make_nccl_group(make_nccl_id(), ranks, options.limit);
    case CrossDeviceOps::kReductionToOneDevice:
    case CrossDeviceOps::kHierarchicalCopy:
      break;
  }
  return make_copy_group(options.ops, ranks);
}

}  // namespace mirrorscale::strategies

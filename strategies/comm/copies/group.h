#pragma once
#include "strategies/comm/device_group.h"

#include <memory>

namespace mirrorscale::strategies {

/// Reduces by copies between the devices of one process and the backends' own additions, for where NCCL can't
/// be used. `ops` is kReductionToOneDevice or kHierarchicalCopy. Sums have the bits of the threads' sums.
std::unique_ptr<DeviceGroup> make_copy_group(CrossDeviceOps ops, int ranks);

}  // namespace mirrorscale::strategies

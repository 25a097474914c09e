#pragma once
#include "strategies/comm/device_group.h"

#include <memory>

namespace mirrorscale::strategies {

/// Devices that are the host: their memory is the threads' own, so a seat among the threads does everything.
std::unique_ptr<DeviceGroup> make_host_group();

}  // namespace mirrorscale::strategies

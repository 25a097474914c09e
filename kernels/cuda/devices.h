#pragma once
#include "kernels/device_list.h"

namespace mirrorscale::kernels::cuda {

/// The device of this ordinal. Throws std::runtime_error with what there is, or why there is nothing.
DeviceInfo require_device(int ordinal);

}  // namespace mirrorscale::kernels::cuda

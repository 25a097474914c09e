#pragma once
#include "strategies/comm/device_group.h"

#include <array>
#include <chrono>
#include <memory>

namespace mirrorscale::strategies {

/// What the ranks of one NCCL communicator have in common: made once, on one rank, and handed to the others.
using NcclId = std::array<char, 128>;

/// Throws std::runtime_error where this build or this machine has no NCCL.
NcclId make_nccl_id();

/// Reduces by NCCL. `ranks` counts the ranks of all processes. Those of this process join with a seat `host`
/// whose rank and size are theirs among all: threads of one process, or one rank of a process with a host
/// communicator that reaches the others. Each rank needs a device of its own.
std::unique_ptr<DeviceGroup> make_nccl_group(const NcclId& id, int ranks, std::chrono::milliseconds limit);

}  // namespace mirrorscale::strategies

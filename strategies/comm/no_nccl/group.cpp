// Linked when the build has no CUDA.
#include "strategies/comm/copies/group.h"

#include "strategies/comm/nccl/group.h"

#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw std::runtime_error(std::string("[device_group] this build has no ") + what +
                           "; configure with -DMIRRORSCALE_CUDA=ON (preset 'cuda')");
}

}  // namespace

NcclId make_nccl_id() {
  refuse("NCCL");
}
std::unique_ptr<DeviceGroup> make_nccl_group(const NcclId&, int, std::chrono::milliseconds) {
  refuse("NCCL");
}
std::unique_ptr<DeviceGroup> make_copy_group(CrossDeviceOps, int) {
  refuse("copies between CUDA devices");
}

std::string nccl_version() {
  return {};
}

}  // namespace mirrorscale::strategies

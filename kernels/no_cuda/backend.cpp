// Linked when the build has no CUDA.
#include "kernels/cuda_backend.h"
#include "kernels/device_list.h"

#include <stdexcept>

namespace mirrorscale::kernels {
namespace {

constexpr const char* kWhy = "this build has no CUDA; configure with -DMIRRORSCALE_CUDA=ON (preset 'cuda')";

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions&) {
  throw std::runtime_error(std::string("[backend] ") + kWhy);
}

DeviceList cuda_devices() {
  DeviceList list;
  list.why_none = kWhy;
  return list;
}

std::vector<std::vector<int>> cuda_peers() {
  return {};
}
std::size_t cuda_free_bytes(int) {
  throw std::runtime_error("[backend] " + in_words(cuda_devices()));
}

}  // namespace mirrorscale::kernels

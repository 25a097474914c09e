#include "kernels/cuda/memory.h"

#include "kernels/device_error.h"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace mirrorscale::kernels::cuda {

Buffer DeviceMemory::allocate(std::size_t count) {
  if (count == 0) return {};
  const bool representable = count <= SIZE_MAX / sizeof(float);
  const std::size_t bytes = representable ? count * sizeof(float) : SIZE_MAX;
  void* data = nullptr;
  const cudaError_t status = representable ? cudaMalloc(&data, bytes) : cudaErrorMemoryAllocation;
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // handled here; the device stays usable
    std::size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes), "ask for free memory");
    throw OutOfMemory(device_, bytes, all_bytes - free_bytes, free_bytes, of_owner_->load());
  }
  check(status, "allocate device memory");
  auto* start = static_cast<float*>(data);
  const std::lock_guard lock(mutex_);
  bytes_[start] = bytes;
  used_bytes_ += bytes;
  *of_owner_ += bytes;
  return {start, FreeBuffer{shared_from_this()}};
}

void DeviceMemory::release(float* data) noexcept {
  {
    const std::lock_guard lock(mutex_);
    const auto found = bytes_.find(data);
    if (found != bytes_.end()) {
      used_bytes_ -= found->second;
      *of_owner_ -= found->second;
      bytes_.erase(found);
    }
  }
  report(cudaFree(data));
}

std::size_t DeviceMemory::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

PinnedFloats make_pinned(std::size_t count) {
  void* data = nullptr;
  const cudaError_t status = cudaHostAlloc(&data, count * sizeof(float), cudaHostAllocDefault);
  if (status == cudaErrorMemoryAllocation) {  // of the host, not of the device
    cudaGetLastError();
    throw std::runtime_error(
        "[cuda] the host has no " + std::to_string(count * sizeof(float)) +
        " bytes of memory to pin; see 'ulimit -l' and the memory limit of the container");
  }
  check(status, "allocate pinned host memory");
  return PinnedFloats(data);
}

}  // namespace mirrorscale::kernels::cuda

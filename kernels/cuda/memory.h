#pragma once
#include "kernels/buffer.h"
#include "kernels/cuda/owned.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace mirrorscale::kernels::cuda {

/// The memory of one device: cudaMalloc, counted. Shared by the buffers that come from it, so that they may
/// outlive their backend.
class DeviceMemory final : public Memory, public std::enable_shared_from_this<DeviceMemory> {
 public:
  /// `device` names it in messages: "cuda:0". It must be the current device of the thread that allocates.
  explicit DeviceMemory(std::string device) : device_(std::move(device)) {}
  /// `count` floats of any value. Throws OutOfMemory; what it calls used is by anybody on the device.
  Buffer allocate(std::size_t count);
  void release(float* data) noexcept override;
  std::size_t used_bytes() const;

 private:
  const std::string device_;
  mutable std::mutex mutex_;
  std::size_t used_bytes_ = 0;
  std::unordered_map<float*, std::size_t> bytes_;  // of each buffer
};

using PinnedFloats = Owned<void*, cudaFreeHost>;
/// Host memory that the device copies from and to by itself.
PinnedFloats make_pinned(std::size_t count);
inline float* floats(const PinnedFloats& pinned) {
  return static_cast<float*>(pinned.get());
}

}  // namespace mirrorscale::kernels::cuda

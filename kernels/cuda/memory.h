#pragma once
#include "kernels/buffer.h"
#include "kernels/cuda/owned.h"

#include <atomic>
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
  using Bytes = std::atomic<std::size_t>;
  /// `device` names it in messages: "cuda:0". It must be the current device of the thread that allocates.
  /// `of_owner` counts what the same owner has by this and by others; an OutOfMemory tells it.
  explicit DeviceMemory(std::string device, std::shared_ptr<Bytes> of_owner = std::make_shared<Bytes>())
      : device_(std::move(device)), of_owner_(std::move(of_owner)) {}
  /// `count` floats of any value. Throws OutOfMemory; what it calls used is by anybody on the device.
  Buffer allocate(std::size_t count);
  void release(float* data) noexcept override;
  std::size_t used_bytes() const;

 private:
  const std::string device_;
  const std::shared_ptr<Bytes> of_owner_;
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

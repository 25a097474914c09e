#pragma once
#include "kernels/buffer.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace mirrorscale::kernels {

/// The host's heap, counted for one backend. Shared by the buffers that come from it, so that they may
/// outlive their backend.
class HostMemory final : public Memory, public std::enable_shared_from_this<HostMemory> {
 public:
  /// As kernels::make_buffer.
  Buffer allocate(std::size_t count);
  void release(float* data) noexcept override;
  /// Bytes asked for that haven't come back.
  std::size_t used_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::size_t used_bytes_ = 0;
  std::unordered_map<float*, std::size_t> bytes_;  // of each buffer
};

}  // namespace mirrorscale::kernels

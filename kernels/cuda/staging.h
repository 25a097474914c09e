#pragma once
#include "kernels/cuda/memory.h"

#include <array>
#include <cstddef>

namespace mirrorscale::kernels::cuda {

/// Copies between host memory of any kind and the device, through two halves of pinned memory that take
/// turns.
class Staging {
 public:
  /// Enqueues on `stream` of the current device.
  explicit Staging(cudaStream_t stream) : stream_(stream) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Comes after what is enqueued; `host` may be reused on return.
  void upload(const float* host, std::size_t count, float* device);
  /// Waits for what is enqueued and for the copy.
  void download(const float* device, std::size_t count, float* host);

 private:
  static constexpr std::size_t kFloats = std::size_t{1}
                                         << 20;  // of a half: 4 MiB, long enough for full speed
  struct Half {
    PinnedFloats data;
    Event left;  // the last upload from here
  };
  Half& next();

  cudaStream_t stream_;
  std::array<Half, 2> halves_;
  std::size_t turn_ = 0;
};

}  // namespace mirrorscale::kernels::cuda

#pragma once
#include <cstddef>
#include <memory>

namespace mirrorscale::kernels {

/// Where buffers come from, when that is not the host's heap. Lives as long as any buffer of it.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual void release(float* data) noexcept = 0;
};

struct FreeBuffer {
  std::shared_ptr<Memory> memory = nullptr;  // null: the host's heap
  void operator()(float* data) const noexcept;
};
/// Owns zero-initialised floats that start at a cache line.
using Buffer = std::unique_ptr<float[], FreeBuffer>;

/// `count` zeroed floats of host memory, first touched by the calling thread (so on its memory node); large
/// buffers ask for huge pages. Throws std::bad_alloc. A count of 0 gives an empty buffer.
Buffer make_buffer(std::size_t count);

}  // namespace mirrorscale::kernels

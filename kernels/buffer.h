#pragma once
#include <cstddef>
#include <memory>

namespace mirrorscale::kernels {

struct FreeBuffer {
  void operator()(float* data) const noexcept;
};
/// Owns zero-initialised floats that start at a cache line.
using Buffer = std::unique_ptr<float[], FreeBuffer>;

/// `count` zeroed floats, first touched by the calling thread (so on its memory node); large buffers ask for
/// huge pages. Throws std::bad_alloc. A count of 0 gives an empty buffer.
Buffer make_buffer(std::size_t count);

}  // namespace mirrorscale::kernels

#include "kernels/buffer.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace mirrorscale::kernels {

void FreeBuffer::operator()(float* data) const noexcept {
  if (memory != nullptr) {
    memory->release(data);
  } else {
    std::free(data);
  }
}

Buffer make_buffer(std::size_t count) {
  if (count == 0) return {};
  constexpr std::size_t kLine = 64, kHugePage = std::size_t{2} << 20;
  if (count > (SIZE_MAX - kHugePage) / sizeof(float)) throw std::bad_alloc();
  const std::size_t wanted = count * sizeof(float);
  const bool huge = wanted >= kHugePage / 2;
  const std::size_t bytes = (wanted + kLine - 1) / kLine * kLine;
  void* data = nullptr;
  if (posix_memalign(&data, huge ? kHugePage : kLine, bytes) != 0) throw std::bad_alloc();
  // Before the first touch. A refusal costs TLB misses, not correctness.
  if (huge) madvise(data, bytes, MADV_HUGEPAGE);
  std::memset(data, 0, bytes);
  return Buffer(static_cast<float*>(data));
}

}  // namespace mirrorscale::kernels

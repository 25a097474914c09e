#include "kernels/host_memory.h"

namespace mirrorscale::kernels {

Buffer HostMemory::allocate(std::size_t count) {
  Buffer plain = kernels::make_buffer(count);
  if (plain == nullptr) return {};
  const std::lock_guard lock(mutex_);
  bytes_.emplace(plain.get(), count * sizeof(float));
  used_bytes_ += count * sizeof(float);
  return {plain.release(), FreeBuffer{shared_from_this()}};
}

void HostMemory::release(float* data) noexcept {
  {
    const std::lock_guard lock(mutex_);
    const auto found = bytes_.find(data);
    if (found != bytes_.end()) {
      used_bytes_ -= found->second;
      bytes_.erase(found);
    }
  }
  FreeBuffer()(data);
}

std::size_t HostMemory::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

}  // namespace mirrorscale::kernels

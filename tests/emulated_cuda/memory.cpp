#include "emulated_cuda/capture.h"
#include "emulated_cuda/stream.h"
#include <cstdio>
#include <cstring>
#include <new>

using namespace mirrorscale::emulated_cuda;

namespace {

constexpr std::size_t kAlignment = 512;  // as cudaMalloc aligns in practice

void* aligned(std::size_t bytes) {
  return ::operator new(bytes, std::align_val_t(kAlignment));
}

/// Never-written memory holds NaN in every float format.
cudaError_t allocate(void** p, std::size_t bytes) {
  if (!p) return cudaErrorInvalidValue;
  System& all = everything();
  Device& device = device_of(current_device());
  if (bytes == 0) {
    *p = nullptr;
    return cudaSuccess;
  }
  if (count_allocation(device)) return cudaErrorMemoryAllocation;
  {
    const Guard guard(all.lock);
    if (bytes > device.capacity_bytes || device.used_bytes > device.capacity_bytes - bytes)
      return cudaErrorMemoryAllocation;
    device.used_bytes += bytes;
    ++device.allocations_live;
    ++all.live.device_allocations;
    all.live.device_bytes += bytes;
  }
  *p = aligned(bytes);
  std::memset(*p, 0xff, bytes);
  const Guard guard(all.lock);
  all.memory[reinterpret_cast<std::uintptr_t>(*p)] = {bytes, device.index, MemoryKind::kDevice};
  return cudaSuccess;
}

cudaError_t allocate_pinned(void** p, std::size_t bytes) {
  if (const auto state = usable()) return state;
  if (const auto refused = refuse_while_capturing()) return refused;
  if (!p) return cudaErrorInvalidValue;
  *p = nullptr;
  if (bytes == 0) return cudaSuccess;
  *p = aligned(bytes);
  std::memset(*p, 0xff, bytes);
  System& all = everything();
  const Guard guard(all.lock);
  all.memory[reinterpret_cast<std::uintptr_t>(*p)] = {bytes, current_device(), MemoryKind::kPinned};
  all.live.pinned_bytes += bytes;
  return cudaSuccess;
}

int device_of_memory(const void* p, MemoryKind where) {
  System& all = everything();
  const Guard guard(all.lock);
  const auto it = all.memory.find(reinterpret_cast<std::uintptr_t>(p));
  return it == all.memory.end() || it->second.where != where ? -1 : it->second.device;
}

/// Waits for the device first, as the real calls do: nothing in flight can still use the memory.
cudaError_t release(void* p, MemoryKind where, const char* call) {
  if (const auto state = driver_state()) return state;
  if (!p) return cudaSuccess;
  if (const auto refused = refuse_while_capturing()) return refused;
  const int device = device_of_memory(p, where);
  if (device < 0) {
    std::fprintf(stderr, "emulated CUDA: %s of %p, which it did not return or has freed already\n", call, p);
    return cudaErrorInvalidValue;
  }
  wait_for_device(device, call);
  release_allocation(p, where);
  return static_cast<cudaError_t>(device_of(device).sticky.load());
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  if (const auto refused = refuse_while_capturing()) return report(refused);
  return report(allocate(p, bytes));
}

cudaError_t cudaFree(void* p) {
  const Unseen unseen;
  return report(release(p, MemoryKind::kDevice, "cudaFree"));
}

/// The address is known at once, the memory may be used behind this call in stream order only.
cudaError_t cudaMallocAsync(void** p, std::size_t bytes, cudaStream_t handle) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  const Stream stream = resolve(handle, "cudaMallocAsync");
  if (!stream || stream->device != current_device()) return report(cudaErrorInvalidResourceHandle);
  if (const auto refused = refuse_on_capturing(*stream)) return report(refused);
  if (const auto error = allocate(p, bytes)) return report(error);
  void* const memory = *p;
  return report(submit(stream, make_operation(Kind::kMemory, "cudaMallocAsync", [=] {
                         writes(memory, bytes);
                         return cudaSuccess;
                       })));
}

cudaError_t cudaFreeAsync(void* p, cudaStream_t handle) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  const Stream stream = resolve(handle, "cudaFreeAsync");
  if (!stream) return report(cudaErrorInvalidResourceHandle);
  if (const auto refused = refuse_on_capturing(*stream)) return report(refused);
  if (!p) return cudaSuccess;
  std::size_t bytes = 0;
  {
    const Guard guard(everything().lock);
    const Allocation* found = find_allocation(p, 0);
    if (!found || found->where != MemoryKind::kDevice) return report(cudaErrorInvalidValue);
    bytes = found->bytes;
  }
  return report(submit(stream, make_operation(Kind::kMemory, "cudaFreeAsync", [=] {
                         writes(p, bytes);  // whoever still uses it races with this
                         const Unseen inner;
                         return release_allocation(p, MemoryKind::kDevice) ? cudaSuccess
                                                                           : cudaErrorIllegalAddress;
                       })));
}

cudaError_t cudaMallocHost(void** p, std::size_t bytes) {
  const Unseen unseen;
  return report(allocate_pinned(p, bytes));
}

cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) {
  const Unseen unseen;
  return report(allocate_pinned(p, bytes));
}

cudaError_t cudaFreeHost(void* p) {
  const Unseen unseen;
  return report(release(p, MemoryKind::kPinned, "cudaFreeHost"));
}

cudaError_t cudaHostRegister(void* p, std::size_t bytes, unsigned) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  if (!p || bytes == 0) return report(cudaErrorInvalidValue);
  System& all = everything();
  const Guard guard(all.lock);
  if (find_allocation(p, 1)) return report(cudaErrorHostMemoryAlreadyRegistered);
  all.memory[reinterpret_cast<std::uintptr_t>(p)] = {bytes, current_device(), MemoryKind::kRegistered};
  all.live.pinned_bytes += bytes;
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* p) {
  const Unseen unseen;
  if (const auto state = driver_state()) return report(state);
  return report(release_allocation(p, MemoryKind::kRegistered) ? cudaSuccess
                                                               : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetDevicePointer(void** on_device, void* on_host, unsigned) {
  const Unseen unseen;
  if (!is_pinned(on_host)) return report(cudaErrorInvalidValue);
  *on_device = on_host;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  const Guard guard(everything().lock);
  const Device& device = device_of(current_device());
  *total = device.capacity_bytes;
  *free = device.capacity_bytes - std::min(device.used_bytes, device.capacity_bytes);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* p) {
  const Unseen unseen;
  if (const auto state = driver_state()) return report(state);
  const Guard guard(everything().lock);
  const Allocation* found = find_allocation(p, 1);
  *attributes = {};
  attributes->device = -2;
  if (!found) {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->hostPointer = const_cast<void*>(p);
    return cudaSuccess;
  }
  attributes->device = found->device;
  attributes->devicePointer = const_cast<void*>(p);
  attributes->type = found->where == MemoryKind::kDevice ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  if (found->where != MemoryKind::kDevice) attributes->hostPointer = const_cast<void*>(p);
  return cudaSuccess;
}

/// The pools of cudaMallocAsync exist in name only: memory goes back at once.
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (static_cast<std::uint32_t>(device) >= everything().device_count.load())
    return report(cudaErrorInvalidDevice);
  *pool = reinterpret_cast<cudaMemPool_t>(&device_of(device));
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) {
  return cudaSuccess;
}

}  // extern "C"

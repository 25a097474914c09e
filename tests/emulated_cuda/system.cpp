#include "emulated_cuda/system.h"

#include "emulated_cuda/settings.h"
#include "emulated_cuda/stream.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

namespace mirrorscale::emulated_cuda {
namespace {

thread_local int device_of_thread = 0;
thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

System& everything() {
  static System* const system = [] {
    const Unseen unseen;
    auto* made = new System;
    for (int i = 0; i < kMostDevices; ++i) made->devices[i].index = i;
    apply_environment(*made);
    return made;
  }();
  return *system;
}

void count_blas_handles(std::uint64_t change) {
  const Guard guard(everything().lock);
  everything().live.blas_handles += change;
}

Device& device_of(int index) {
  return everything().devices[index];
}

int current_device() {
  return device_of_thread;
}
void set_current_device(int device) {
  device_of_thread = device;
}

cudaError_t report(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}
cudaError_t take_last_error() {
  return std::exchange(last_error, cudaSuccess);
}
cudaError_t peek_last_error() {
  return last_error;
}

cudaError_t driver_state() {
  System& all = everything();
  if (!all.driver_present.load()) return cudaErrorInsufficientDriver;
  if (all.device_count.load() == 0) return cudaErrorNoDevice;
  return cudaSuccess;
}

cudaError_t usable() {
  if (const cudaError_t state = driver_state()) return state;
  if (static_cast<std::uint32_t>(device_of_thread) >= everything().device_count.load())
    return cudaErrorInvalidDevice;
  return static_cast<cudaError_t>(device_of(device_of_thread).sticky.load());
}

const Allocation* find_allocation(const void* p, std::size_t bytes) {
  auto& memory = everything().memory;
  auto it = memory.upper_bound(reinterpret_cast<std::uintptr_t>(p));
  if (it == memory.begin()) return nullptr;
  --it;
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(p) - it->first;
  return offset <= it->second.bytes && bytes <= it->second.bytes - offset ? &it->second : nullptr;
}

bool may_touch(int device, const void* p, std::size_t bytes) {
  System& all = everything();
  const Guard guard(all.lock);
  const Allocation* found = find_allocation(p, bytes);
  if (!found) return false;
  return found->where != MemoryKind::kDevice || found->device == device ||
         (all.devices[device].peers >> found->device & 1) != 0;
}

bool is_foreign(int device, const void* p) {
  System& all = everything();
  const Guard guard(all.lock);
  const Allocation* found = find_allocation(p, 1);
  return found && found->where == MemoryKind::kDevice && found->device != device &&
         (all.devices[device].peers >> found->device & 1) == 0;
}

bool is_device_memory(const void* p, std::size_t bytes) {
  const Guard guard(everything().lock);
  const Allocation* found = find_allocation(p, bytes);
  return found && found->where == MemoryKind::kDevice;
}

bool is_pinned(const void* p) {
  const Guard guard(everything().lock);
  const Allocation* found = find_allocation(p, 1);
  return found && found->where != MemoryKind::kDevice;
}

bool release_allocation(void* p, MemoryKind where) {
  System& all = everything();
  {
    const Guard guard(all.lock);
    const auto it = all.memory.find(reinterpret_cast<std::uintptr_t>(p));
    if (it == all.memory.end() || it->second.where != where) return false;
    if (where == MemoryKind::kDevice) {
      Device& device = all.devices[it->second.device];
      device.used_bytes -= it->second.bytes;
      --device.allocations_live;
      --all.live.device_allocations;
      all.live.device_bytes -= it->second.bytes;
    } else {
      all.live.pinned_bytes -= it->second.bytes;
    }
    all.memory.erase(it);
  }
  if (where != MemoryKind::kRegistered) ::operator delete(p, std::align_val_t(512));
  return true;
}

void break_device(Device& device, cudaError_t error) {
  device.sticky.replace(cudaSuccess, static_cast<std::uint32_t>(error));
}

void note_long_wait(const char* what, unsigned& waited_ms, bool& told) {
  waited_ms += 250;
  if (told || waited_ms < everything().hang_after_ms.load()) return;
  told = true;
  std::fprintf(stderr, "emulated CUDA: %s has waited for %u ms\n%s", what, waited_ms, hang_report().c_str());
}

}  // namespace mirrorscale::emulated_cuda

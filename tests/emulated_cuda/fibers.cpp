#include "emulated_cuda/fibers.h"

#include "emulated_cuda/sanitizers.h"
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/mman.h>

namespace mirrorscale::emulated_cuda {
namespace {

constexpr std::size_t kGuardBytes = 4096;

std::size_t stack_bytes() {
  return under_tsan() || under_asan() ? 256u << 10 : 64u << 10;
}
// TSan's runtime has the switch hooks of ASan's too in some versions; only one of them may be called.
bool asan_switches() {
  return under_asan() && &__sanitizer_start_switch_fiber != nullptr;
}

}  // namespace

void adopt_thread(Fiber& fiber) {
  if (under_tsan() && !fiber.tsan) fiber.tsan = __tsan_get_current_fiber();
  if (asan_switches() && !fiber.stack) {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    void* lowest = nullptr;
    pthread_attr_getstack(&attributes, &lowest, &fiber.stack_bytes);
    pthread_attr_destroy(&attributes);
    fiber.stack = static_cast<char*>(lowest);
  }
}

void start_fiber(Fiber& fiber, void (*entry)()) {
  const std::size_t bytes = stack_bytes();
  void* mapped = mmap(nullptr, bytes + kGuardBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    std::fputs("emulated CUDA: no memory for the stack of a CUDA thread\n", stderr);
    std::abort();
  }
  mprotect(mapped, kGuardBytes, PROT_NONE);
  fiber.stack = static_cast<char*>(mapped) + kGuardBytes;
  fiber.stack_bytes = bytes;
  if (under_tsan()) fiber.tsan = __tsan_create_fiber(0);
  fiber.stack_pointer = prepare_stack(fiber.stack, bytes, entry);
}

void entered_fiber() {
  if (asan_switches()) __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
}

void release_fiber(Fiber& fiber) {
  if (fiber.tsan) __tsan_destroy_fiber(fiber.tsan);
  // The next mapping at this address must not inherit the red zones of frames that never returned.
  if (under_asan()) __asan_unpoison_memory_region(fiber.stack, fiber.stack_bytes);
  munmap(fiber.stack - kGuardBytes, fiber.stack_bytes + kGuardBytes);
}

void switch_fiber(Fiber& from, const Fiber& to) {
  if (asan_switches()) __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
  if (under_tsan()) __tsan_switch_to_fiber(to.tsan, 1);
  switch_stack(&from.stack_pointer, to.stack_pointer);
  if (asan_switches()) __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
}

}  // namespace mirrorscale::emulated_cuda

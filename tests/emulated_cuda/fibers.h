#pragma once

#include <cstddef>

namespace mirrorscale::emulated_cuda {

/// A stack to run on, known to the sanitizers. Belongs to one OS thread.
struct Fiber {
  void* stack_pointer = nullptr;  // owned by the switch
  char* stack = nullptr;          // lowest usable byte; one guard page lies below
  std::size_t stack_bytes = 0;
  void* tsan = nullptr;
  void* fake_stack = nullptr;
};

/// Makes `fiber` stand for the calling OS thread, so that others can switch back to it.
void adopt_thread(Fiber& fiber);
/// Gives `fiber` a stack on which `entry` runs at the first switch to it; `entry` calls `entered_fiber` first
/// and never returns.
void start_fiber(Fiber& fiber, void (*entry)());
void entered_fiber();
void release_fiber(Fiber& fiber);
/// Orders nothing for ThreadSanitizer: two fibers are as unordered as two threads.
void switch_fiber(Fiber& from, const Fiber& to);

/// The machine's part, one file a machine (fibers_*.cpp).
void* prepare_stack(char* stack, std::size_t bytes, void (*entry)());
void switch_stack(void** save, void* to);

}  // namespace mirrorscale::emulated_cuda

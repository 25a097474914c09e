#pragma once

#include <cstddef>

/// What the stand-in tells ThreadSanitizer and AddressSanitizer. The library itself is never instrumented:
/// every order that CUDA promises is declared here by hand, and nothing else orders anything, so that a
/// dependency the caller forgot is a data race. The hooks are weak: one object serves plain, ASan and TSan
/// programs.
extern "C" {
[[gnu::weak]] void __tsan_acquire(void*);
[[gnu::weak]] void __tsan_release(void*);
[[gnu::weak]] void __tsan_read_range(void*, unsigned long);
[[gnu::weak]] void __tsan_write_range(void*, unsigned long);
[[gnu::weak]] void __tsan_ignore_thread_begin();
[[gnu::weak]] void __tsan_ignore_thread_end();
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned);
[[gnu::weak]] void __tsan_destroy_fiber(void*);
[[gnu::weak]] void __tsan_switch_to_fiber(void*, unsigned);
[[gnu::weak]] void __sanitizer_start_switch_fiber(void**, const void*, std::size_t);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void*, const void**, std::size_t*);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void*, std::size_t);
}

namespace mirrorscale::emulated_cuda {

inline bool under_tsan() {
  return &__tsan_switch_to_fiber != nullptr;
}
inline bool under_asan() {
  return &__asan_unpoison_memory_region != nullptr;
}

/// All that came before `released(tag)` is ordered before all that follows `acquired(tag)`.
inline void released(void* tag) {
  if (&__tsan_release != nullptr) __tsan_release(tag);
}
inline void acquired(void* tag) {
  if (&__tsan_acquire != nullptr) __tsan_acquire(tag);
}

/// Accesses made inside the library to memory of the caller.
inline void reads(const void* from, std::size_t bytes) {
  if (&__tsan_read_range != nullptr && bytes > 0) __tsan_read_range(const_cast<void*>(from), bytes);
}
inline void writes(void* to, std::size_t bytes) {
  if (&__tsan_write_range != nullptr && bytes > 0) __tsan_write_range(to, bytes);
}

/// While one lives, this thread's accesses are the library's own business: its locks are unseen, so its
/// tables and its malloc and free would look like races. Never held across a change of fiber or a call of the
/// user's code.
class Unseen {
 public:
  Unseen() {
    if (&__tsan_ignore_thread_begin != nullptr) __tsan_ignore_thread_begin();
  }
  ~Unseen() {
    if (&__tsan_ignore_thread_end != nullptr) __tsan_ignore_thread_end();
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
};

}  // namespace mirrorscale::emulated_cuda

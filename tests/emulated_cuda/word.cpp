#include "emulated_cuda/word.h"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mirrorscale::emulated_cuda {

void Word::sleep_while(std::uint32_t seen, unsigned limit_ms) {
  __atomic_fetch_add(&sleepers_, 1u, __ATOMIC_SEQ_CST);
  if (load() == seen) {
    const timespec limit{static_cast<std::time_t>(limit_ms / 1000),
                         static_cast<long>(limit_ms % 1000) * 1000000};
    syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE, seen, limit_ms ? &limit : nullptr, nullptr, 0);
  }
  __atomic_fetch_sub(&sleepers_, 1u, __ATOMIC_SEQ_CST);
}

void Word::wake_all() {
  if (__atomic_load_n(&sleepers_, __ATOMIC_SEQ_CST) != 0)
    syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void Lock::lock() {
  while (!state_.replace(0, 1)) state_.sleep_while(1);
}

void Lock::unlock() {
  state_.store_and_wake(0);
}

}  // namespace mirrorscale::emulated_cuda

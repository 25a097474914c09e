#include "scenarios/compare/shared_word.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <linux/futex.h>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace mirrorscale::scenarios {
namespace {

// Not the private kind: the sleepers are other processes.
long futex(SharedWord& word, int operation, std::uint32_t value, const timespec* limit) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, limit, nullptr, 0);
}

}  // namespace

bool wait_for_change(SharedWord& word, std::uint32_t seen, std::chrono::steady_clock::time_point deadline) {
  using namespace std::chrono;
  if (word.load() != seen) return true;
  const auto left = duration_cast<nanoseconds>(deadline - steady_clock::now()).count();
  if (left <= 0) return false;
  const timespec limit{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  if (futex(word, FUTEX_WAIT, seen, &limit) == 0) return true;
  if (errno == EAGAIN || errno == EINTR) return true;
  if (errno == ETIMEDOUT) return word.load() != seen;
  throw std::runtime_error(std::string("[compare] waiting on shared memory: ") + std::strerror(errno));
}

void wake_all(SharedWord& word) {
  futex(word, FUTEX_WAKE, static_cast<std::uint32_t>(std::numeric_limits<int>::max()), nullptr);
}

}  // namespace mirrorscale::scenarios

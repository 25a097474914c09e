#include "harness/measure/thread_clock.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace mirrorscale::harness {

ThreadClock::ThreadClock() : schedstat_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

ThreadClock::~ThreadClock() {
  if (schedstat_ >= 0) close(schedstat_);
}

ThreadUse ThreadClock::now() const {
  ThreadUse use;
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  use.cpu_s = static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) * 1e-9;
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  use.preemptions = usage.ru_nivcsw;
  if (schedstat_ < 0) return use;
  std::array<char, 96> text{};  // "ran_ns waited_ns turns"
  unsigned long long ran_ns = 0, waited_ns = 0;
  if (pread(schedstat_, text.data(), text.size() - 1, 0) > 0 &&
      std::sscanf(text.data(), "%llu %llu", &ran_ns, &waited_ns) == 2) {
    use.core_wait_s = static_cast<double>(waited_ns) * 1e-9;
  }
  return use;
}

}  // namespace mirrorscale::harness

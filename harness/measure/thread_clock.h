#pragma once
#include <cstdint>
#include <optional>

namespace mirrorscale::harness {

/// What the system has counted of a thread since it began.
struct ThreadUse {
  double cpu_s = 0;              // on a core
  std::int64_t preemptions = 0;  // times that it was taken off its core while it could have gone on
  /// Ready to run, without a core: what other programs (and wake-ups) cost it. Empty where the system doesn't
  /// count it (Linux without CONFIG_SCHED_INFO).
  std::optional<double> core_wait_s;
};

/// Reads the counters of the thread that made it; only that thread may read. A reading takes 1 to 2 us.
class ThreadClock {
 public:
  ThreadClock();
  ~ThreadClock();
  ThreadClock(const ThreadClock&) = delete;
  ThreadClock& operator=(const ThreadClock&) = delete;
  ThreadUse now() const;

 private:
  int schedstat_ = -1;  // -1: the system has none
};

}  // namespace mirrorscale::harness

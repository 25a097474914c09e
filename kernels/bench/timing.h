#pragma once
#include <algorithm>
#include <cstddef>
#include <sched.h>
#include <time.h>
#include <vector>

namespace mirrorscale::kernels::bench {

/// Of this thread on a core: on a busy machine a slice that was interrupted doesn't count as slow.
inline double now_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

inline double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The thread stays where it is: a move to another core costs a cold cache.
inline void stay_on_this_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// GFLOP/s of one slice of `slice_s` seconds; run() does `flop` operations.
template <class Run>
double rate(const Run& run, double flop, double slice_s) {
  run();  // its caches and pages are warm
  const int repeat = 1 + static_cast<int>(2e6 / flop);
  double runs = 0;
  const double start = now_s();
  double end = start;
  for (; end - start < slice_s; end = now_s()) {
    for (int i = 0; i < repeat; ++i) run();
    runs += repeat;
  }
  return flop * runs / (end - start) * 1e-9;
}

}  // namespace mirrorscale::kernels::bench

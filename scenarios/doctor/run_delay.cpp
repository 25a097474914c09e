#include "scenarios/doctor/run_delay.h"

#include <cstdio>
#include <memory>

namespace mirrorscale::scenarios {

std::optional<double> waited_for_core_s() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/thread-self/schedstat", "r"),
                                                             &std::fclose);
  unsigned long long ran_ns = 0, waited_ns = 0;
  if (!file || std::fscanf(file.get(), "%llu %llu", &ran_ns, &waited_ns) != 2) return std::nullopt;
  return static_cast<double>(waited_ns) * 1e-9;
}

}  // namespace mirrorscale::scenarios

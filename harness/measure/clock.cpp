#include "harness/measure/clock.h"

#include <chrono>
#include <stdexcept>

namespace mirrorscale::harness {
namespace {

long long steady_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

SteadyClock::SteadyClock() : start_ns_(steady_ns()) {}

double SteadyClock::now_s() const {
  return static_cast<double>(steady_ns() - start_ns_) * 1e-9;
}

void HandClock::advance_s(double seconds) {
  if (!(seconds >= 0)) throw std::invalid_argument("[HandClock] time does not go back");
  now_s_ += seconds;
}

}  // namespace mirrorscale::harness

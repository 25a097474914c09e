#include "harness/measure/core_sensor.h"

#include <fstream>
#include <sched.h>
#include <unistd.h>

namespace mirrorscale::harness {
namespace {

std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (!(file >> value) || value < 0) return {};
  return value;
}

}  // namespace

CoreState CoreSensor::read(int core) const {
  const std::string folder = root_ + "/cpu" + std::to_string(core);
  CoreState state;
  if (const auto khz = number_in(folder + "/cpufreq/scaling_cur_freq")) {
    state.hz = static_cast<double>(*khz) * 1e3;
  }
  state.throttles = number_in(folder + "/thermal_throttle/core_throttle_count");
  return state;
}

int current_core() {
  return sched_getcpu();
}

std::optional<MachineTime> machine_time(const std::string& path) {
  constexpr int kCounted = 8,
                kSteal = 7;  // user nice system idle iowait irq softirq steal; guests are in user
  std::ifstream file(path);
  std::string name;
  if (!(file >> name) || name != "cpu") return {};
  const double ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  MachineTime time;
  for (int i = 0; i < kCounted; ++i) {
    double ticks = 0;
    if (!(file >> ticks)) return {};
    time.all_s += ticks / ticks_per_s;
    if (i == kSteal) time.stolen_s = ticks / ticks_per_s;
  }
  return time;
}

}  // namespace mirrorscale::harness

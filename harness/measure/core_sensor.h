#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace mirrorscale::harness {

/// What the system tells about a core; empty where it doesn't.
struct CoreState {
  std::optional<double> hz;               // clock rate now
  std::optional<std::int64_t> throttles;  // times that it was slowed down because of its heat
};

/// Reads `root`/cpuN/{cpufreq/scaling_cur_freq, thermal_throttle/core_throttle_count}.
class CoreSensor {
 public:
  explicit CoreSensor(std::string root = "/sys/devices/system/cpu") : root_(std::move(root)) {}
  CoreState read(int core) const;

 private:
  std::string root_;
};

/// The core that the calling thread runs on.
int current_core();

/// Core-seconds since the machine started, over all cores.
struct MachineTime {
  double all_s = 0;
  double stolen_s = 0;  // the hypervisor gave them to others
};
/// From the first line of `file`. Empty where it isn't there or says nothing of stolen time.
std::optional<MachineTime> machine_time(const std::string& file = "/proc/stat");

}  // namespace mirrorscale::harness

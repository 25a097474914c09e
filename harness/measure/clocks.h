#pragma once
#include "harness/measure/interval.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mirrorscale::harness {

/// What was read of a GPU while a cell was measured: `value` is the median, `low` and `high` are the
/// extremes.
struct GpuClocks {
  std::string uuid;
  std::int64_t looks = 0;
  std::optional<Interval> sm_hz, memory_hz, temperature_c, power_w;
  std::vector<std::string> throttle_reasons;  // all that were seen, see GpuState
  bool operator==(const GpuClocks&) const = default;
};

/// What else was counted while a cell was measured, beside its seconds; of its slices only.
struct Clocks {
  /// Steps of slices in which a replica waited for a core for more than kPreemptedShare of the time; in which
  /// a core or a GPU was slowed down; in which either happened.
  std::int64_t preempted_steps = 0, throttled_steps = 0, disturbed_steps = 0;
  std::vector<double> cpu_s_per_step = {};         // by replica
  std::vector<std::int64_t> preemptions = {};      // by replica, of all steps
  std::vector<double> core_wait_s_per_step = {};   // by replica; empty where the system doesn't tell
  std::vector<double> instructions_per_step = {};  // by replica, in user mode; empty as above
  std::optional<Interval> core_hz = {};            // median and extremes
  /// Of the core-seconds of the machine between the cell's first and last slice, what a hypervisor took.
  std::optional<double> steal_share = {};
  std::vector<GpuClocks> gpus = {};
  std::map<std::string, std::string> not_measured = {};  // field -> why
  bool operator==(const Clocks&) const = default;
};
inline constexpr double kPreemptedShare = 0.05;

}  // namespace mirrorscale::harness

#pragma once
#include "harness/measure/clocks.h"
#include "harness/measure/core_sensor.h"
#include "harness/measure/gpu_sensor.h"
#include "harness/measure/instruction_counter.h"
#include "harness/measure/thread_clock.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mirrorscale::harness {

/// What one replica's thread used of a slice.
struct SliceUse {
  double cpu_s = 0;
  std::int64_t preemptions = 0;
  std::optional<double> core_wait_s = {}, instructions = {}, core_hz = {};
  std::int64_t throttles = 0;  // of its core
};

/// Adds up, over the slices of a cell, what its replicas' threads used and what became of their cores.
class ClockSums {
 public:
  explicit ClockSums(std::size_t replicas) : replicas_(replicas) {}
  /// One slice of `steps` steps and `seconds`; as many uses as replicas. `gpu_throttled`: a GPU was slowed
  /// down.
  void add(int steps, double seconds, const std::vector<SliceUse>& uses, bool gpu_throttled);
  /// Without GPUs, steal and the reasons for what is missing.
  Clocks clocks() const;

 private:
  struct Replica {
    double cpu_s = 0, core_wait_s = 0, instructions = 0;
    std::int64_t preemptions = 0;
    bool has_wait = true, has_instructions = true;
  };
  std::vector<Replica> replicas_;
  std::vector<double> core_hz_;
  std::int64_t steps_ = 0;
  Clocks counted_;
};

/// Reads all clocks around the slices of a cell. Readings lie outside of what is timed.
class SliceClocks {
 public:
  /// `gpu_uuids`: of the GPUs that the cell runs on.
  SliceClocks(std::size_t replicas, std::vector<std::string> gpu_uuids);

  /// On the replica's own thread, always the same, right before and right after a slice.
  void begin(std::size_t replica);
  void end(std::size_t replica);
  /// On any thread, after all replicas ended.
  void add_slice(int steps, double seconds);
  Clocks clocks() const;

 private:
  struct Seat {  // of a replica
    std::optional<ThreadClock> thread;
    std::optional<InstructionCounter> instructions;
    ThreadUse before;
    std::optional<double> instructions_before;
    CoreState core_before;
    SliceUse use;
  };
  void look_at_gpus();

  std::vector<Seat> seats_;
  CoreSensor core_;
  ClockSums sums_;
  std::optional<MachineTime> first_;
  struct Gpu {
    std::string uuid, trouble;
    std::vector<GpuState> looks;
  };
  std::vector<Gpu> gpus_;
  std::unique_ptr<GpuSensor> sensor_;  // null: no GPUs
  double last_look_s_ = -1;
  bool gpu_throttled_ = false;
};

}  // namespace mirrorscale::harness

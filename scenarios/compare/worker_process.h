#pragma once
#include "scenarios/compare/lockstep_memory.h"

#include <chrono>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace mirrorscale::scenarios {

/// A worker as its parent sees it: started, given orders, waited for with a limit, gone with this object.
class WorkerProcess {
 public:
  /// Starts `arguments` (the program first) with the memory as descriptor kWorkerMemory. `name` is what
  /// messages call it: "side B (build/release/scenarios/mirrorscale)".
  WorkerProcess(std::vector<std::string> arguments, SharedLockstep& memory, int seat, std::string name);
  /// Asks it to leave, and ends it when it doesn't within seconds.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Hands over the token, and sleeps until the order is carried out. Throws std::runtime_error that names
  /// the worker when it fails, ends, or takes longer than `limit`.
  const LockstepSeat& carry_out(Order order, int steps, std::chrono::duration<double> limit);
  pid_t pid() const { return pid_; }

 private:
  void give(Order order, int steps);
  /// False when `limit` is over.
  bool wait(std::chrono::duration<double> limit);
  std::string how_it_ended() const;

  SharedLockstep& memory_;
  LockstepSeat& seat_;
  std::string name_;
  pid_t pid_ = -1;
  std::thread watcher_;  // asleep until the process ends
};

inline constexpr int kWorkerMemory = 3;

}  // namespace mirrorscale::scenarios

#pragma once
#include "strategies/comm/communicator.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

struct TeamOptions {
  /// Longest wait of one rank for another.
  std::chrono::milliseconds limit = std::chrono::seconds(120);
  /// Bind each rank's thread to a processing unit of its own (round robin when there are fewer).
  bool pin = true;
};

/// N ranks of one process: a thread each, pinned, alive as long as the team, asleep while there is nothing to
/// do. Several teams may live at once; only those that run take cores.
class DeviceTeam {
 public:
  explicit DeviceTeam(int ranks, const TeamOptions& options = {});
  ~DeviceTeam();
  DeviceTeam(const DeviceTeam&) = delete;
  DeviceTeam& operator=(const DeviceTeam&) = delete;

  int size() const;
  /// Runs `body` once a rank, each on its own thread, and returns when all have finished; the calling thread
  /// sleeps. When a rank throws, the others are freed (GroupBroken) and the first failure is rethrown here,
  /// its text prefixed with the rank (kernels::OutOfMemory and DeviceFailed as they are: they name their
  /// device). Throws RankLost when a rank doesn't come back within the limit after that; `body` (a copy, with
  /// what it holds) then lives on with that rank's thread, and the team can't be used any more. Not
  /// reentrant: one run at a time.
  void run(const std::function<void(Communicator&)>& body);
  /// Which processing unit each rank is bound to; -1 where it isn't.
  const std::vector<int>& units() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace mirrorscale::strategies

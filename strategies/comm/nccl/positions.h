#pragma once
#include "kernels/cuda/owned.h"

#include <mutex>
#include <string>
#include <vector>

namespace mirrorscale::strategies::nccl {

/// How far the devices of this process's ranks have come, for the message when they stop: the host's calls
/// alone don't tell a device that never gets to a collective from one that waits in it. Thread-safe.
class Positions {
 public:
  explicit Positions(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}
  /// From now on `rank` enqueues its collectives on `stream` and sets `before` ahead of each.
  void set(int rank, cudaStream_t stream, cudaEvent_t before);
  /// Before these are destroyed: the rank leaves, its device is done.
  void clear(int rank) noexcept;
  /// Throws DeviceFailed if the device of `rank`, whose thread this is, has failed.
  void require_device(int rank) const;
  /// Names the devices that have not come to their last collective; where all have, those that are done with
  /// it while others are not. Empty if neither is so.
  std::string text() const;

 private:
  struct Position {
    cudaStream_t stream{};
    cudaEvent_t before{};
    bool left = false;
  };
  mutable std::mutex mutex_;
  std::vector<Position> ranks_;
};

}  // namespace mirrorscale::strategies::nccl

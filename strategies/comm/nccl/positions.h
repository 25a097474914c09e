#pragma once
#include "kernels/cuda/owned.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace mirrorscale::strategies::nccl {

/// How far the devices of this process's ranks have come, for the message when they stop: the host's calls
/// alone don't tell a device that never gets to a collective from one that waits in it, nor from one that
/// took no part. Thread-safe.
class Positions {
 public:
  explicit Positions(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}
  /// By the rank's thread, its device current: from now on `rank` enqueues its collectives on `stream`.
  void set(int rank, cudaStream_t stream);
  /// Before the stream is destroyed: the rank leaves, its device is done.
  void clear(int rank) noexcept;
  /// Before and after a rank's part of its next collective is enqueued.
  void before(int rank);
  void after(int rank);
  /// Throws DeviceFailed if the device of `rank`, whose thread this is, has failed.
  void require_device(int rank) const;
  /// Of the first collective that isn't finished: names the devices that have not come to it; where all have,
  /// those that are done with it while others are not. Empty if neither is so.
  std::string text() const;

 private:
  static constexpr std::uint64_t kKept = 64;  // marks of a rank: of its last collectives
  struct Rank {
    cudaStream_t stream{};
    std::vector<kernels::cuda::Event> before, after;  // collective k's at k % kKept
    std::uint64_t begun = 0, enqueued = 0;
    bool left = false;
  };
  struct Place {
    std::uint64_t collective = 0;
    bool inside = false;  // or before it
  };
  /// Empty where the device has nothing left to do.
  static std::optional<Place> place_of(const Rank& rank);

  mutable std::mutex mutex_;
  std::vector<Rank> ranks_;
};

}  // namespace mirrorscale::strategies::nccl

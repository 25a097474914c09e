#pragma once
#include "strategies/comm/nccl/calls.h"
#include "strategies/comm/nccl/group.h"
#include "strategies/comm/nccl/positions.h"
#include "strategies/comm/nccl/status.h"
#include "strategies/comm/nccl/watchdog.h"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mirrorscale::strategies::nccl {

/// This process's ends of one NCCL communicator, and the ways it ends. NCCL communicators are non-blocking: a
/// rank's thread waits itself for what it enqueues, with the limit, and gives up when the group breaks. An
/// end is used by one thread at a time.
class Links {
 public:
  Links(const NcclId& id, int ranks, std::chrono::milliseconds limit);
  /// Closes the communicators; nothing may be going on in them.
  ~Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  int size() const { return static_cast<int>(links_.size()); }
  /// By the rank's thread, its device current: becomes a rank of the communicator. Returns when all ranks
  /// have.
  void open(int rank);
  /// Notes that `rank` is about to enqueue this collective. When another rank of the process calls another
  /// one the group breaks, and std::invalid_argument says so.
  void note(int rank, const Call& call);
  /// Tells NCCL of memory that collectives will often work on, until the communicators close. More than once
  /// is once.
  void register_memory(int rank, std::span<float> values);
  /// Makes the NCCL calls of `body(comm)`, which returns the first failure of them, as one group; they are on
  /// their streams on return. Throws GroupBroken.
  template <class Body>
  void enqueue(int rank, const char* what, const Body& body) {
    Link& link = links_[static_cast<std::size_t>(rank)];
    std::unique_lock lock(link.mutex);
    start(rank, link);
    const ncclResult_t status = body(link.comm);
    finish(rank, link, lock, what, status);
    positions_.after(rank);
  }
  /// Aborts all ends, so that streams come to an end of what they wait for. `why` becomes part of every
  /// rank's GroupBroken. The first one counts. From any thread.
  void break_up(const std::string& why) noexcept;
  /// Throws GroupBroken if the group broke, or if NCCL reports an error of this rank.
  void check(int rank);
  Watchdog& watchdog() { return *watchdog_; }
  Positions& positions() { return positions_; }

 private:
  struct Link {
    std::mutex mutex;
    ncclComm_t comm = nullptr;
    std::map<float*, void*> registered;  // handles by address
  };
  void start(int rank, const Link& link);
  void finish(int rank, Link& link, std::unique_lock<std::mutex>& lock, const char* what,
              ncclResult_t status);
  ncclResult_t settle(ncclComm_t comm, ncclResult_t status) const;
  void break_up(const std::string& why, const std::string& errors) noexcept;
  void look_for_errors();
  std::string stuck() const;
  std::string async_errors();
  /// DeviceFailed where this rank's own device has failed, else GroupBroken.
  [[noreturn]] void throw_broken(int rank) const;

  const ncclUniqueId id_;
  const std::chrono::milliseconds limit_;
  std::vector<Link> links_;  // by rank
  Calls calls_;
  Positions positions_;
  std::atomic<bool> broken_{false};
  mutable std::mutex mutex_;
  std::string why_;  // guarded by mutex_
  std::optional<Watchdog> watchdog_;
};

}  // namespace mirrorscale::strategies::nccl

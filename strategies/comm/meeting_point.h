#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace mirrorscale::strategies {

/// A barrier with a limit that a failing rank can break. A waiting rank spins for a moment (only where every
/// rank has a core of its own), gives its core away for a while, then sleeps; no lock is taken unless
/// somebody sleeps.
class MeetingPoint {
 public:
  MeetingPoint(int ranks, std::chrono::milliseconds limit, bool own_cores);

  /// Returns when all ranks have called it. Throws GroupBroken when a rank broke the meeting, or when `limit`
  /// has passed; names the ranks that are missing, and `what` they were expected for.
  void meet(int rank, const char* what);
  /// Frees all waiting ranks and every later one. `why` becomes part of their exception.
  void break_up(int rank, const std::string& why);
  /// Makes it whole again; no rank may be inside.
  void reset();
  bool broken() const { return broken_.load(); }
  std::chrono::milliseconds limit() const { return limit_; }

 private:
  bool done(std::uint64_t entered) const { return round_.load() != entered || broken_.load(); }
  void sleep(std::uint64_t entered, int rank, const char* what);
  std::string missing(std::uint64_t round) const;

  const int ranks_;
  const std::chrono::milliseconds limit_;
  const bool own_cores_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> arrivals_;  // rounds entered, by rank
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint64_t> round_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> broken_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string why_;  // guarded by mutex_
};

}  // namespace mirrorscale::strategies

#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace mirrorscale::strategies::nccl {

/// Bounds the time that the ranks' threads wait for their devices. A thread of its own, which sleeps where
/// nobody waits.
class Watchdog {
 public:
  /// Both are called on the watchdog's thread: `late` for a rank whose wait has lasted longer than `limit`;
  /// `look` four times a second while a rank waits.
  Watchdog(int ranks, std::chrono::milliseconds limit, std::function<void()> late,
           std::function<void()> look);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// By the rank's thread. May be nested: the outermost pair counts. `what` must live until its end.
  void begin(int rank, const char* what);
  void end(int rank) noexcept;
  /// What the rank waits for, or waited for last. Empty before its first wait.
  std::string waiting_for(int rank) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Wait {
    int depth = 0;
    Clock::time_point deadline = Clock::time_point::max();
    std::string what;
  };
  void watch();

  const std::chrono::milliseconds limit_;
  const std::function<void()> late_, look_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Wait> waits_;   // by rank
  bool sleeps_long_ = false;  // the thread sleeps with no deadline
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace mirrorscale::strategies::nccl

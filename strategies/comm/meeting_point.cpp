#include "strategies/comm/meeting_point.h"

#include "strategies/comm/failure.h"

#include <sched.h>

namespace mirrorscale::strategies {
namespace {

constexpr int kSpins = 4000;   // some 10 us
constexpr int kYields = 2000;  // a millisecond or more; then the core is somebody else's

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

MeetingPoint::MeetingPoint(int ranks, std::chrono::milliseconds limit, bool own_cores)
    : ranks_(ranks),
      limit_(limit),
      own_cores_(own_cores),
      arrivals_(std::make_unique<std::atomic<std::uint64_t>[]>(static_cast<std::size_t>(ranks))) {}

void MeetingPoint::meet(int rank, const char* what) {
  if (ranks_ == 1) return;
  const std::uint64_t entered = round_.load();
  if (!broken_.load()) {
    arrivals_[static_cast<std::size_t>(rank)].store(entered + 1, std::memory_order_relaxed);
    if (arrived_.fetch_add(1) + 1 == ranks_) {
      arrived_.store(0);
      round_.store(entered + 1);
      if (sleepers_.load() > 0) {
        const std::lock_guard lock(mutex_);
        changed_.notify_all();
      }
      return;
    }
    for (int i = 0; own_cores_ && i < kSpins && !done(entered); ++i) pause();
    for (int i = 0; i < (own_cores_ ? kYields : 20) && !done(entered); ++i) sched_yield();
  }
  if (round_.load() == entered) sleep(entered, rank, what);
}

void MeetingPoint::sleep(std::uint64_t entered, int rank, const char* what) {
  std::unique_lock lock(mutex_);
  ++sleepers_;
  const bool came = changed_.wait_for(lock, limit_, [&] { return done(entered); });
  --sleepers_;
  if (!came) {
    broken_.store(true);
    why_ = "rank " + missing(entered) + " did not arrive at '" + what + "' within " +
           std::to_string(limit_.count()) + " ms";
    changed_.notify_all();
  }
  if (broken_.load() && round_.load() == entered) {
    throw GroupBroken("[group] rank " + std::to_string(rank) + " waited at '" + what + "' in vain: " + why_);
  }
}

void MeetingPoint::break_up(int rank, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!broken_.load()) why_ = "rank " + std::to_string(rank) + " failed: " + why;
  broken_.store(true);
  changed_.notify_all();
}

void MeetingPoint::reset() {
  const std::lock_guard lock(mutex_);
  // Arrivals in the round that broke don't count for the next.
  for (int r = 0; r < ranks_; ++r) arrivals_[static_cast<std::size_t>(r)].store(round_.load());
  arrived_.store(0);
  broken_.store(false);
  why_.clear();
}

std::string MeetingPoint::missing(std::uint64_t round) const {
  std::string names;
  for (int r = 0; r < ranks_; ++r) {
    if (arrivals_[static_cast<std::size_t>(r)].load(std::memory_order_relaxed) <= round) {
      names += (names.empty() ? "" : ", ") + std::to_string(r);
    }
  }
  return names;
}

}  // namespace mirrorscale::strategies

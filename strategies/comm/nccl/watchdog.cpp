#include "strategies/comm/nccl/watchdog.h"

#include <algorithm>
#include <utility>

namespace mirrorscale::strategies::nccl {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{250};

}  // namespace

Watchdog::Watchdog(int ranks, std::chrono::milliseconds limit, std::function<void()> late,
                   std::function<void()> look)
    : limit_(limit),
      late_(std::move(late)),
      look_(std::move(look)),
      waits_(static_cast<std::size_t>(ranks)),
      thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::begin(int rank, const char* what) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    Wait& wait = waits_[static_cast<std::size_t>(rank)];
    if (wait.depth++ > 0) return;
    wait.deadline = Clock::now() + limit_;
    wait.what = what;
    // Every wait is equally long, so a thread that sleeps until some deadline sleeps until an earlier one.
    wake = std::exchange(sleeps_long_, false);
  }
  if (wake) changed_.notify_all();
}

void Watchdog::end(int rank) noexcept {
  const std::lock_guard lock(mutex_);
  Wait& wait = waits_[static_cast<std::size_t>(rank)];
  if (--wait.depth == 0) wait.deadline = Clock::time_point::max();
}

std::string Watchdog::waiting_for(int rank) const {
  const std::lock_guard lock(mutex_);
  return waits_[static_cast<std::size_t>(rank)].what;
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const auto nearest = std::min_element(
        waits_.begin(), waits_.end(), [](const Wait& a, const Wait& b) { return a.deadline < b.deadline; });
    const auto deadline = nearest->deadline;
    if (deadline == Clock::time_point::max()) {
      sleeps_long_ = true;
      changed_.wait(lock, [&] { return stop_ || !sleeps_long_; });
    } else if (Clock::now() < deadline) {
      if (changed_.wait_until(lock, std::min(deadline, Clock::now() + kBetweenLooks), [&] { return stop_; }))
        break;
      lock.unlock();
      look_();
      lock.lock();
    } else {
      nearest->deadline = Clock::time_point::max();  // told once
      lock.unlock();
      late_();
      lock.lock();
    }
  }
}

}  // namespace mirrorscale::strategies::nccl

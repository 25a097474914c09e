#include "strategies/comm/threads/device_team.h"

#include "kernels/device_error.h"
#include "strategies/comm/failure.h"
#include "strategies/comm/placement.h"
#include "strategies/comm/threads/communicator.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace mirrorscale::strategies {

/// Owned by the team and by every rank's thread, so that a thread that is left behind finds it alive.
struct DeviceTeam::Shared {
  Shared(int ranks, const TeamOptions& options, bool own_cores)
      : group(ranks, options.limit, own_cores), units(static_cast<std::size_t>(ranks), -1) {}

  void serve(int rank);
  std::string names_of_busy() const;

  ThreadGroup group;
  std::vector<int> units;
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::condition_variable wake, finished;
  std::function<void(Communicator&)> body;
  unsigned long job = 0;
  int ready = 0;  // threads that are bound
  int busy = 0;
  std::vector<bool> working;
  std::exception_ptr failure;  // the weightiest; of several the first
  int failed_rank = -1;
  bool stop = false, lost = false;
};

namespace {

/// Which of several ranks' failures is told: a device that is lost explains all others, and who only waited
/// for another explains none.
int weight_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const GroupBroken&) {
    return 0;
  } catch (const kernels::DeviceFailed&) {
    return 2;
  } catch (...) {
    return 1;
  }
}

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an unknown exception";
  }
}

}  // namespace

void DeviceTeam::Shared::serve(int rank) {
  const auto me = static_cast<std::size_t>(rank);
  if (units[me] >= 0) {
    try {
      bind_this_thread(units[me]);
    } catch (const std::runtime_error&) {
      units[me] = -1;  // units() tells; the work is right all the same
    }
  }
  ThreadCommunicator seat(group, rank);
  unsigned long done = 0;
  std::unique_lock lock(mutex);
  if (++ready == static_cast<int>(units.size())) finished.notify_all();
  while (true) {
    wake.wait(lock, [&] { return stop || job != done; });
    if (stop) return;
    done = job;
    const auto work = body;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      work(seat);
    } catch (...) {
      thrown = std::current_exception();
      group.meeting.break_up(rank, text_of(thrown));
    }
    lock.lock();
    if (thrown && (!failure || weight_of(thrown) > weight_of(failure))) {
      failure = thrown;
      failed_rank = rank;
    }
    working[me] = false;
    if (--busy == 0) finished.notify_all();
  }
}

std::string DeviceTeam::Shared::names_of_busy() const {
  std::string names;
  for (std::size_t r = 0; r < working.size(); ++r) {
    if (working[r]) names += (names.empty() ? "" : ", ") + std::to_string(r);
  }
  return names;
}

DeviceTeam::DeviceTeam(int ranks, const TeamOptions& options) {
  if (ranks < 1) throw std::invalid_argument("[team] needs at least 1 rank, not " + std::to_string(ranks));
  const std::vector<int> units = usable_units();
  shared_ = std::make_shared<Shared>(ranks, options, static_cast<std::size_t>(ranks) <= units.size());
  shared_->working.assign(static_cast<std::size_t>(ranks), false);
  for (std::size_t r = 0; options.pin && r < static_cast<std::size_t>(ranks); ++r) {
    shared_->units[r] = units[r % units.size()];
  }
  for (int r = 0; r < ranks; ++r) {
    shared_->threads.emplace_back([shared = shared_, r] { shared->serve(r); });
  }
  std::unique_lock lock(shared_->mutex);
  shared_->finished.wait(lock, [&] { return shared_->ready == ranks; });
}

DeviceTeam::~DeviceTeam() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
    shared_->wake.notify_all();
  }
  for (std::thread& thread : shared_->threads) {
    if (shared_->lost) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

int DeviceTeam::size() const {
  return static_cast<int>(shared_->threads.size());
}

const std::vector<int>& DeviceTeam::units() const {
  return shared_->units;
}

void DeviceTeam::run(const std::function<void(Communicator&)>& body) {
  Shared& s = *shared_;
  std::unique_lock lock(s.mutex);
  if (s.lost) throw RankLost("[team] a rank of this team was lost; make a new team");
  if (s.busy != 0) throw std::logic_error("[team] run called while a run is going on");
  s.group.meeting.reset();
  s.failure = nullptr;
  s.failed_rank = -1;
  s.body = body;
  s.busy = size();
  s.working.assign(s.working.size(), true);
  ++s.job;
  s.wake.notify_all();
  // A rank may work as long as it likes while nobody waits for it; once the group is broken it must come
  // back.
  const auto limit = s.group.meeting.limit();
  auto broken_since = std::chrono::steady_clock::time_point::max();
  while (!s.finished.wait_for(lock, std::min(limit, std::chrono::milliseconds(1000)),
                              [&] { return s.busy == 0; })) {
    if (!s.group.meeting.broken()) continue;
    const auto now = std::chrono::steady_clock::now();
    if (broken_since == std::chrono::steady_clock::time_point::max()) broken_since = now;
    if (now - broken_since < limit) continue;
    s.lost = true;
    throw RankLost("[team] rank " + s.names_of_busy() + " did not come back within " +
                   std::to_string(limit.count()) + " ms after the group broke" +
                   (s.failure ? ": " + text_of(s.failure) : ""));
  }
  s.body = nullptr;
  if (!s.failure) return;
  const std::exception_ptr failure = std::exchange(s.failure, nullptr);
  const std::string where = "rank " + std::to_string(s.failed_rank) + ": ";
  lock.unlock();
  if (size() == 1) std::rethrow_exception(failure);
  try {
    std::rethrow_exception(failure);
  } catch (const kernels::OutOfMemory&) {  // these two name the device themselves, and carry more than a text
    throw;
  } catch (const kernels::DeviceFailed&) {
    throw;
  } catch (const GroupBroken& e) {
    throw GroupBroken(where + e.what());
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(where + e.what());
  } catch (const std::logic_error& e) {
    throw std::logic_error(where + e.what());
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(where + e.what());
  }
}

}  // namespace mirrorscale::strategies

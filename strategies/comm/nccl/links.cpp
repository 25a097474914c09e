#include "strategies/comm/nccl/links.h"

#include "strategies/comm/failure.h"

#include <algorithm>
#include <bit>
#include <thread>

namespace mirrorscale::strategies::nccl {
namespace {

constexpr int kYields = 200;

std::string within(std::chrono::milliseconds limit) {
  return " within " + std::to_string(limit.count()) + " ms";
}

}  // namespace

Links::Links(const NcclId& id, int ranks, std::chrono::milliseconds limit)
    : id_(std::bit_cast<ncclUniqueId>(id)),
      limit_(limit),
      links_(static_cast<std::size_t>(ranks)),
      calls_(ranks),
      positions_(ranks) {
  watchdog_.emplace(
      ranks, limit, [this] { break_up(stuck()); }, [this] { look_for_errors(); });
}

Links::~Links() {
  watchdog_.reset();
  for (Link& link : links_) {
    for (const auto& [data, handle] : link.registered) {
      if (link.comm) report(ncclCommDeregister(link.comm, handle), "give registered memory back");
    }
    if (link.comm) report(ncclCommFinalize(link.comm), "finish a communicator");
  }
  for (Link& link : links_) {
    if (!link.comm) continue;
    if (settle(link.comm, ncclInProgress) == ncclSuccess) {
      report(ncclCommDestroy(link.comm), "close a communicator");
    } else {
      report(ncclCommAbort(link.comm), "abort a communicator");
    }
  }
}

void Links::open(int rank) {
  Link& link = links_[static_cast<std::size_t>(rank)];
  std::unique_lock lock(link.mutex);
  if (broken_.load()) throw_broken(rank);
  calls_.join(rank);  // before any rank can call a collective
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclResult_t status = ncclCommInitRankConfig(&link.comm, size(), id_, rank, &config);
  if (!failed(status)) status = settle(link.comm, ncclInProgress);
  if (status == ncclSuccess) return;
  const std::string text = status == ncclInProgress ? calls_.absent() + within(limit_)
                                                    : "rank " + std::to_string(rank) +
                                                          " cannot join NCCL: " + text_of(status, link.comm);
  lock.unlock();
  break_up(text);
  throw_broken(rank);
}

void Links::register_memory(int rank, std::span<float> values) {
  Link& link = links_[static_cast<std::size_t>(rank)];
  const std::lock_guard lock(link.mutex);
  if (broken_.load() || !link.comm) throw_broken(rank);
  if (link.registered.contains(values.data())) return;
  void* handle = nullptr;
  nccl::check(ncclCommRegister(link.comm, values.data(), values.size_bytes(), &handle), "register memory",
              link.comm);
  link.registered.emplace(values.data(), handle);
}

void Links::note(int rank, const Call& call) {
  try {
    calls_.note(rank, call);
  } catch (const std::exception& e) {
    break_up(e.what());
    throw;
  }
}

void Links::start(int rank, const Link& link) {
  if (broken_.load() || !link.comm) throw_broken(rank);
  positions_.before(rank);
  nccl::check(ncclGroupStart(), "start a group of NCCL calls", link.comm);
}

void Links::finish(int rank, Link& link, std::unique_lock<std::mutex>& lock, const char* what,
                   ncclResult_t status) {
  const ncclResult_t end = ncclGroupEnd();
  if (!failed(status)) status = end;
  if (!failed(status)) status = settle(link.comm, ncclInProgress);
  if (status == ncclSuccess) return;
  std::string text;
  if (status == ncclInProgress) {
    text = stuck();
  } else {
    text = "NCCL of rank " + std::to_string(rank) + " failed in " + what + ": " + text_of(status, link.comm);
  }
  lock.unlock();
  break_up(text);
  throw_broken(rank);
}

/// Returns when the communicator's state is another than "in progress", the group is broken, or the limit is
/// over; in the last two cases ncclInProgress.
ncclResult_t Links::settle(ncclComm_t comm, ncclResult_t status) const {
  const auto deadline = std::chrono::steady_clock::now() + limit_;
  for (int turn = 0;; ++turn) {
    const ncclResult_t asked = ncclCommGetAsyncError(comm, &status);
    if (asked != ncclSuccess) return asked;
    if (status != ncclInProgress || broken_.load() || std::chrono::steady_clock::now() > deadline)
      return status;
    if (turn < kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(std::min(turn, 1000)));
    }
  }
}

/// NCCL tells of a broken link at once, while the devices of the other ranks wait on.
void Links::look_for_errors() {
  if (broken_.load()) return;
  const std::string errors = async_errors();
  if (!errors.empty()) break_up("a collective failed", errors);
}

std::string Links::stuck() const {
  const std::string late = calls_.late();
  if (!late.empty()) return late + within(limit_);
  const std::string where = positions_.text();
  return "every rank of this process has called the same collectives, yet a device has not finished them" +
         within(limit_) + (where.empty() ? "" : ": " + where);
}

std::string Links::async_errors() {
  std::string text;
  for (std::size_t r = 0; r < links_.size(); ++r) {
    const std::unique_lock lock(links_[r].mutex, std::try_to_lock);
    ncclResult_t status = ncclSuccess;
    if (!lock || !links_[r].comm || ncclCommGetAsyncError(links_[r].comm, &status) != ncclSuccess) continue;
    if (failed(status))
      text += "; NCCL of rank " + std::to_string(r) + ": " + text_of(status, links_[r].comm);
  }
  return text;
}

void Links::break_up(const std::string& why) noexcept {
  break_up(why, broken_.load() ? "" : async_errors());
}

void Links::break_up(const std::string& why, const std::string& errors) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (broken_.load()) return;
    why_ = why + errors;
    broken_.store(true);
  }
  for (Link& link : links_) {
    const std::lock_guard lock(link.mutex);  // whoever is inside leaves, now that it is broken
    if (link.comm) report(ncclCommAbort(link.comm), "abort a communicator");
    link.comm = nullptr;
  }
}

void Links::check(int rank) {
  if (!broken_.load()) {
    Link& link = links_[static_cast<std::size_t>(rank)];
    std::unique_lock lock(link.mutex);
    ncclResult_t status = ncclSuccess;
    if (link.comm) nccl::check(ncclCommGetAsyncError(link.comm, &status), "ask for errors", link.comm);
    if (failed(status)) {
      const std::string text =
          "NCCL of rank " + std::to_string(rank) + " failed: " + text_of(status, link.comm);
      lock.unlock();
      break_up(text);
    }
  }
  if (broken_.load()) throw_broken(rank);
}

void Links::throw_broken(int rank) const {
  positions_.require_device(rank);
  const std::string what = watchdog_->waiting_for(rank);
  const std::lock_guard lock(mutex_);
  throw GroupBroken("[nccl] rank " + std::to_string(rank) +
                    (what.empty() ? " joined in vain: " : " waited at '" + what + "' in vain: ") + why_);
}

}  // namespace mirrorscale::strategies::nccl

#include "scenarios/compare/worker_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace mirrorscale::scenarios {
namespace {

constexpr std::chrono::seconds kFarewell{5};

pid_t start(std::vector<std::string>& arguments, int memory) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, memory, kWorkerMemory);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, arguments.front().c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(std::strerror(error));
  return pid;
}

const char* doing(Order order) {
  return order == Order::kPrepare ? "getting ready" : order == Order::kSlice ? "in a slice" : "leaving";
}

}  // namespace

WorkerProcess::WorkerProcess(std::vector<std::string> arguments, SharedLockstep& memory, int seat,
                             std::string name)
    : memory_(memory), seat_(memory->seats[seat]), name_(std::move(name)) {
  try {
    pid_ = start(arguments, memory.descriptor());
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("[compare] " + name_ + " can't be started: " + error.what());
  }
  name_ += ", process " + std::to_string(pid_);
  watcher_ = std::thread([this] {
    siginfo_t info{};
    // Not reaped yet: until the destructor is done with it, its number means this process.
    while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    seat_.ended.store(1);
    memory_->bell.fetch_add(1);
    wake_all(memory_->bell);
  });
}

WorkerProcess::~WorkerProcess() {
  if (seat_.ended.load() == 0) {
    // Mid-way through an order it can't hear the next one.
    const bool rests = seat_.done.load() == seat_.orders.load();
    if (rests) give(Order::kEnd, 0);
    const auto deadline = std::chrono::steady_clock::now() + kFarewell;
    while (rests && seat_.ended.load() == 0) {
      const std::uint32_t seen = memory_->bell.load();
      if (seat_.ended.load() != 0 || !wait_for_change(memory_->bell, seen, deadline)) break;
    }
    if (seat_.ended.load() == 0) kill(pid_, SIGKILL);
  }
  watcher_.join();
  waitpid(pid_, nullptr, 0);
}

void WorkerProcess::give(Order order, int steps) {
  seat_.order = order;
  seat_.steps = steps;
  seat_.orders.fetch_add(1);
  wake_all(seat_.orders);
}

bool WorkerProcess::wait(std::chrono::duration<double> limit) {
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit);
  while (true) {
    const std::uint32_t seen = memory_->bell.load();
    if (seat_.done.load() == seat_.orders.load() || seat_.ended.load() != 0) return true;
    if (!wait_for_change(memory_->bell, seen, deadline)) return false;
  }
}

const LockstepSeat& WorkerProcess::carry_out(Order order, int steps, std::chrono::duration<double> limit) {
  give(order, steps);
  if (!wait(limit)) {
    throw std::runtime_error("[compare] " + name_ + " was missing: it was " + doing(order) +
                             " for more than " + std::to_string(static_cast<int>(limit.count())) +
                             " s; raise --wait-limit where that can be, else see what that build waits for");
  }
  if (seat_.failed.load() != 0) {
    throw std::runtime_error("[compare] " + name_ + " failed " + doing(order) + ": " + seat_.text);
  }
  if (seat_.done.load() != seat_.orders.load()) {
    throw std::runtime_error("[compare] " + name_ + " " + how_it_ended() + " " + doing(order) +
                             "; nothing was judged, run it again");
  }
  return seat_;
}

std::string WorkerProcess::how_it_ended() const {
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG);
  if (info.si_code == CLD_EXITED) return "left with status " + std::to_string(info.si_status);
  return std::string("was ended by signal ") + std::to_string(info.si_status) + " (" +
         strsignal(info.si_status) + ")";
}

}  // namespace mirrorscale::scenarios

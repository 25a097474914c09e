#include "scenarios/commands/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <string_view>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace mirrorscale::scenarios {
namespace {

using std::chrono::steady_clock;

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&raw_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&raw_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* raw() { return &raw_; }

 private:
  posix_spawn_file_actions_t raw_{};
};

class Descriptor {
 public:
  explicit Descriptor(int raw) : raw_(raw) {}
  ~Descriptor() { close_now(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int raw() const { return raw_; }
  void close_now() {
    if (raw_ >= 0) close(raw_);
    raw_ = -1;
  }

 private:
  int raw_;
};

std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!variables.contains(std::string(text.substr(0, text.find('='))))) entries.emplace_back(text);
  }
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The new process, or -1 with errno set.
pid_t spawn(const Program& program, FileActions& actions) {
  std::vector<std::string> arguments = program.arguments;
  std::vector<std::string> environment = environment_with(program.variables);
  pid_t child = -1;
  errno = posix_spawnp(&child, arguments.front().c_str(), actions.raw(), nullptr,
                       pointers_to(arguments).data(), pointers_to(environment).data());
  return errno == 0 ? child : -1;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Everything until the other side closes; empty when that takes too long.
std::optional<std::string> read_all(int descriptor, steady_clock::time_point deadline) {
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
    pollfd ready{descriptor, POLLIN, 0};
    const int found = left <= 0 ? 0 : poll(&ready, 1, static_cast<int>(left));
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) return std::nullopt;
    const ssize_t got = read(descriptor, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

int run_program(const Program& program) {
  FileActions actions;
  if (program.silent) {
    posix_spawn_file_actions_addopen(actions.raw(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  const pid_t child = spawn(program, actions);
  if (child < 0)
    throw std::runtime_error("can't start " + program.arguments.front() + ": " + std::strerror(errno));
  return wait_for(child);
}

std::optional<Captured> captured(const Program& program, std::chrono::milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  Descriptor ours(ends[0]), theirs(ends[1]);
  // Errors go to memory: a second pipe would have to be read at the same time.
  Descriptor errors(memfd_create("errors", MFD_CLOEXEC));
  if (errors.raw() < 0) throw std::runtime_error(std::string("memfd_create: ") + std::strerror(errno));
  FileActions actions;
  posix_spawn_file_actions_adddup2(actions.raw(), theirs.raw(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(actions.raw(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(actions.raw(), errors.raw(), STDERR_FILENO);
  const pid_t child = spawn(program, actions);
  if (child < 0) return std::nullopt;
  theirs.close_now();
  std::optional<std::string> text = read_all(ours.raw(), deadline);
  if (!text) kill(child, SIGKILL);
  const int status = wait_for(child);
  if (!text) return std::nullopt;
  lseek(errors.raw(), 0, SEEK_SET);
  return Captured{status, std::move(*text), read_all(errors.raw(), deadline + limit).value_or("")};
}

std::optional<std::string> output_of(const Program& program, std::chrono::milliseconds limit) {
  std::optional<Captured> output = captured(program, limit);
  if (!output || output->status != 0) return std::nullopt;
  return std::move(output->text);
}

}  // namespace mirrorscale::scenarios

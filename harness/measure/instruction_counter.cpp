#include "harness/measure/instruction_counter.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mirrorscale::harness {
namespace {

std::string reason(int error) {
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV) {
    return "this processor, as the system shows it, has no counter of instructions (usual in virtual "
           "machines)";
  }
  std::string level = "unknown";
  std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level;
  return fmt::format(
      "perf_event_open: {} (kernel.perf_event_paranoid is {}; it must be 2 or less, and a container must "
      "allow "
      "the call)",
      std::strerror(error), level);
}

}  // namespace

InstructionCounter::InstructionCounter() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  constexpr int kThisThread = 0, kAnyCore = -1, kNoGroup = -1;
  file_ = static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, kThisThread, kAnyCore, kNoGroup, PERF_FLAG_FD_CLOEXEC));
  if (file_ < 0) why_not_ = reason(errno);
}

InstructionCounter::~InstructionCounter() {
  if (file_ >= 0) close(file_);
}

std::optional<double> InstructionCounter::now() const {
  struct {
    std::uint64_t count, enabled_ns, running_ns;
  } held{};
  if (file_ < 0 || read(file_, &held, sizeof held) != sizeof held || held.running_ns == 0) return {};
  return static_cast<double>(held.count) * static_cast<double>(held.enabled_ns) /
         static_cast<double>(held.running_ns);
}

}  // namespace mirrorscale::harness

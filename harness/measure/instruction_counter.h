#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace mirrorscale::harness {

/// Instructions that the thread which made it has run in user mode since then, by perf_event_open. On one
/// machine and build they hardly depend on what else the machine does, as seconds do.
class InstructionCounter {
 public:
  InstructionCounter();
  ~InstructionCounter();
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;

  /// Scaled up where the counter had to share its place in the processor. Empty where nothing was counted.
  std::optional<double> now() const;
  /// Why there is no counter, and what would give one; empty where there is one.
  const std::string& why_not() const { return why_not_; }

 private:
  int file_ = -1;
  std::string why_not_;
};

}  // namespace mirrorscale::harness

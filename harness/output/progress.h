#pragma once
#include "harness/measure/clock.h"

#include <cstdio>
#include <string>

namespace mirrorscale::harness {

/// One line that rewrites itself on a terminal; nothing at all in a pipe. Has no thread of its own and costs
/// nothing between calls: whoever works calls update at a pause.
class ProgressLine {
 public:
  /// Writes to `stream` if it is a terminal; at most every `interval_s`.
  explicit ProgressLine(std::FILE* stream = stderr, double interval_s = 0.1);
  /// Erases the line.
  ~ProgressLine();
  ProgressLine(ProgressLine&&) = delete;
  void update(const std::string& text);
  /// Erases the line, so that other output can follow.
  void clear();

 private:
  std::FILE* stream_;
  double interval_s_, last_s_;
  bool terminal_, drawn_ = false;
  SteadyClock clock_;
};

}  // namespace mirrorscale::harness

#pragma once
#include "harness/measure/clock.h"

#include <cstdio>
#include <string>

namespace mirrorscale::harness {

/// One line that rewrites itself on a terminal; nothing at all in a pipe. Has no thread of its own and costs
/// nothing between calls: whoever works calls update at a pause.
class ProgressLine {
 public:
  /// On a terminal the line is written anew, at most every `interval_s`. Elsewhere (a pipe, a CI log) a line
  /// of its own follows every `plain_interval_s`, so that a long run is seen to live; a shorter one is
  /// silent.
  explicit ProgressLine(std::FILE* stream = stderr, double interval_s = 0.1, double plain_interval_s = 20);
  /// Erases the line.
  ~ProgressLine();
  ProgressLine(ProgressLine&&) = delete;
  void update(const std::string& text);
  /// Erases the line, so that other output can follow.
  void clear();

 private:
  std::FILE* stream_;
  bool terminal_, drawn_ = false;
  double interval_s_, last_s_;
  SteadyClock clock_;
};

}  // namespace mirrorscale::harness

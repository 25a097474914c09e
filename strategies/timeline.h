#pragma once
#include <chrono>
#include <cstddef>
#include <vector>

namespace mirrorscale::strategies {

/// Seconds of the steady clock.
inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Where one step of one replica went.
struct StepMarks {
  double end_s = 0;  // moment (now_s) at which the replica left the step
  double input_s = 0, forward_s = 0, backward_s = 0;
  double reduction_s = 0;  // 0 with the fused reducer, whose sum and update are one pass
  double optimizer_s = 0;
  double wait_s = 0;  // at the two barriers
};

/// Marks of consecutive steps, by replica; made before the steps run, so that recording allocates nothing.
class Timeline {
 public:
  Timeline(int replicas, std::size_t steps)
      : starts_(static_cast<std::size_t>(replicas)),
        marks_(static_cast<std::size_t>(replicas), std::vector<StepMarks>(steps)) {}
  std::size_t steps() const { return marks_.front().size(); }
  int replicas() const { return static_cast<int>(marks_.size()); }
  void start(int replica, double moment_s) { starts_[static_cast<std::size_t>(replica)] = moment_s; }
  StepMarks& at(int replica, std::size_t step) { return marks_[static_cast<std::size_t>(replica)][step]; }
  const StepMarks& at(int replica, std::size_t step) const {
    return marks_[static_cast<std::size_t>(replica)][step];
  }

  /// Time of each step: from the moment the last replica left the step before (or was ready for the first) to
  /// the moment the last replica left this one, i.e. the maximum over replicas from a common start.
  std::vector<double> step_times_s() const;
  /// Time of all steps, first start to last end.
  double total_s() const;

 private:
  std::vector<double> starts_;
  std::vector<std::vector<StepMarks>> marks_;
};

}  // namespace mirrorscale::strategies

#pragma once
#include "harness/measure/clock.h"
#include "scenarios/cells/steady.h"
#include "scenarios/sweep/slice_source.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace mirrorscale::scenarios {

/// How long things take, as planted. Moments are of the hand-set clock that all cells share.
struct Behaviour {
  /// Work of one replica in its step number `step` (warm-up counts) that begins at `now_s`.
  std::function<double(int replica, std::int64_t step, double now_s)> compute_s;
  /// What all do together once the last has come.
  std::function<double(std::int64_t step, double now_s)> exchange_s = [](std::int64_t, double) {
    return 0.0;
  };
  /// How much of a replica's work must be done before that may begin; less than 1: the rest of the work hides
  /// it.
  double exchange_from = 1;
  /// What is counted of the steps, by how many there are.
  std::function<harness::Clocks(std::int64_t steps)> clocks = {};
  /// How late a replica wakes up for a slice.
  std::function<double(int replica)> late_s = [](int) { return 0.0; };
};

/// A cell whose step times are known: no threads and no work, only marks on a timeline, as replicas make
/// them.
class FakeEngine final : public SliceSource {
 public:
  FakeEngine(CellSpec spec, Behaviour behaviour, harness::HandClock& clock, double slice_s)
      : spec_(std::move(spec)), behaviour_(std::move(behaviour)), clock_(clock) {
    steady_ = warm_up([this] { return run(1); }, slice_s);
    phases_.reset();
    step_times_s_.clear();
  }

  double run_slice(int steps) override { return run(steps); }
  const CellSpec& spec() const override { return spec_; }
  bool makes_claim() const override { return true; }
  int warmup_steps() const override { return steady_.warmup_steps; }
  int steps_per_slice() const override { return steady_.steps_per_slice; }
  const std::vector<double>& step_times_s() const override { return step_times_s_; }
  const std::vector<double>& peak_shares() const override { return no_peaks_; }
  Phases phases() const override { return phases_.mean(); }
  std::optional<harness::Clocks> clocks() const override {
    if (!behaviour_.clocks) return {};
    return behaviour_.clocks(static_cast<std::int64_t>(step_times_s_.size()));
  }

 private:
  double run(int steps) {
    const int n = spec_.devices;
    strategies::Timeline timeline(n, static_cast<std::size_t>(steps));
    std::vector<double> free_s(static_cast<std::size_t>(n));  // when each replica can begin
    for (int r = 0; r < n; ++r) {
      free_s[static_cast<std::size_t>(r)] = clock_.now_s() + behaviour_.late_s(r);
      timeline.start(r, free_s[static_cast<std::size_t>(r)]);
    }
    for (int s = 0; s < steps; ++s, ++step_) {
      double all_there_s = 0, may_begin_s = 0;
      std::vector<double> arrives_s = free_s;
      for (int r = 0; r < n; ++r) {
        double& arrives = arrives_s[static_cast<std::size_t>(r)];
        const double work_s = behaviour_.compute_s(r, step_, clock_.now_s());
        may_begin_s = std::max(may_begin_s, arrives + behaviour_.exchange_from * work_s);
        arrives += work_s;
        all_there_s = std::max(all_there_s, arrives);
      }
      const double exchanged_s = may_begin_s + behaviour_.exchange_s(step_, clock_.now_s());
      const double exposed_s = std::max(0.0, exchanged_s - all_there_s);
      for (int r = 0; r < n; ++r) {
        const auto i = static_cast<std::size_t>(r);
        strategies::StepMarks& marks = timeline.at(r, static_cast<std::size_t>(s));
        marks.forward_s = arrives_s[i] - free_s[i];
        marks.wait_s = all_there_s - arrives_s[i];
        marks.reduction_s = exposed_s;
        marks.end_s = all_there_s + exposed_s;
        free_s[i] = marks.end_s;
      }
      clock_.advance_s(free_s.front() - clock_.now_s());
    }
    phases_.add(timeline);
    double total = 0;
    for (const double t : timeline.step_times_s()) {
      step_times_s_.push_back(t);
      total += t;
    }
    return total;
  }

  CellSpec spec_;
  Behaviour behaviour_;
  harness::HandClock& clock_;
  Steady steady_;
  std::int64_t step_ = 0;
  PhaseSums phases_;
  std::vector<double> step_times_s_, no_peaks_;
};

}  // namespace mirrorscale::scenarios

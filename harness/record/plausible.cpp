#include "harness/record/plausible.h"

#include "harness/judge/sessions.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

namespace mirrorscale::harness {
namespace {

constexpr double kDayS = 86400;
/// A mean step is never below the fastest step; above the slowest one only by what a slice adds to its steps
/// (and by steps that were not kept). Units are wrong by a thousand.
constexpr double kBelow = 0.9, kAbove = 100;

}  // namespace

std::string implausible(const CellRecord& cell) {
  if (!cell.measurement || cell.emulated) return {};
  const Measurement& m = *cell.measurement;
  for (std::size_t i = 1; i < m.slice_start_s.size(); ++i) {
    if (m.slice_start_s[i] < m.slice_start_s[i - 1]) {
      return fmt::format(
          "slice_start_s goes back from {} to {} at slice {}: the clock jumped, and no time of this launch "
          "can be trusted",
          m.slice_start_s[i - 1], m.slice_start_s[i], i);
    }
  }
  for (std::size_t i = 1; i < m.slice_start_s.size(); ++i) {
    if (m.slice_start_s[i] - m.slice_start_s[i - 1] > kDayS) {
      return fmt::format("slice_start_s goes from {} to {} at slice {}, more than a day: the clock jumped",
                         m.slice_start_s[i - 1], m.slice_start_s[i], i);
    }
  }
  if (!(0 < m.step_min_s && m.step_min_s <= m.step_p50_s && m.step_p50_s <= m.step_p95_s)) {
    return fmt::format(
        "step_min_s {}, step_p50_s {} and step_p95_s {} contradict each other: no step takes 0 s, "
        "and they are in order",
        m.step_min_s, m.step_p50_s, m.step_p95_s);
  }
  const double step_s = static_cast<double>(cell.global_batch) / m.samples_per_s.value;
  const double longest_s = std::max(m.step_p95_s, *std::ranges::max_element(m.step_s));
  if (step_s < kBelow * m.step_min_s || step_s > kAbove * longest_s) {
    return fmt::format(
        "samples_per_s {} makes {} s a step, but steps took {} to {} s: a unit is wrong, or the clock jumped",
        m.samples_per_s.value, step_s, m.step_min_s, longest_s);
  }
  if (m.clocks && std::ranges::max(m.clocks->cpu_s_per_step) > kAbove * step_s) {
    return fmt::format("clocks.cpu_s_per_step {} in a step of {} s: a unit is wrong",
                       std::ranges::max(m.clocks->cpu_s_per_step), step_s);
  }
  return {};
}

std::string implausible(const RunRecord& run, const std::string& now) {
  if (seconds_of_utc(run.started) - seconds_of_utc(now) <= kDayS) return {};
  return fmt::format("started at {}, but it is {} now: one of the two clocks is wrong", run.started, now);
}

}  // namespace mirrorscale::harness

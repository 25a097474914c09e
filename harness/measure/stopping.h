#pragma once
#include "harness/measure/interval.h"

#include <optional>
#include <string_view>

namespace mirrorscale::harness {

enum class StopReason { kInterval, kBudget, kSlices };
/// "interval", "budget", "slices": the word in a record.
std::string_view to_word(StopReason reason);
StopReason stop_reason_from_word(std::string_view word);

/// When a cell has been measured enough. The first that holds stops: the interval is narrow enough (after
/// `fewest_slices`), the count is reached, the time is spent.
struct StoppingRule {
  double relative_half_width = 0.01;  // of the cell's worst interval; 0 never holds
  int fewest_slices = 10;             // before an interval is believed
  int most_slices = 10'000;
  double budget_s = 10;  // wall-clock time of the measurement, warm-up not included
};
/// Throws std::invalid_argument naming the field: a rule that could never stop, or stops before it starts.
void validate(const StoppingRule& rule);

struct Progress {
  int slices = 0;
  double elapsed_s = 0;
  std::optional<Interval> interval = {};  // the widest of those the cell is to report
};
/// Why to stop, or empty to go on. At least one slice is always taken.
std::optional<StopReason> stop_reason(const StoppingRule& rule, const Progress& progress);

}  // namespace mirrorscale::harness

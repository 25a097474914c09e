#pragma once
#include "harness/judge/shift_test.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mirrorscale::harness {

/// What became of a metric of a cell.
enum class Change { kBetter, kSame, kWorse, kAmbiguous, kMissing, kNew };
/// "better", "same", "worse", "ambiguous", "missing", "new".
std::string_view to_word(Change change);

/// All as natural logarithms of a ratio.
struct ChangeLimits {
  double effect = 0.05;  // smaller losses don't matter
  /// What the machine alone may do to a metric between baseline and now; not used where sessions are the
  /// unit, since their spread holds it.
  double drift = 0;
  double relative_drift = 0;  // the same, to one cell against the others
};

/// One metric of one cell: shifts oriented so that above 0 is worse.
struct Question {
  ShiftTest raw;
  /// The same in units of what the cores could do in the same moment; where there is none, `raw` stands
  /// alone.
  std::optional<ShiftTest> calibrated;
  /// Against the other cells of the same launches.
  std::optional<ShiftTest> relative;
  ChangeLimits limits;
};

struct Answer {
  Change change = Change::kAmbiguous;
  /// One-sided, after Holm over all questions.
  double p_worse = 1, p_better = 1;
  /// The smallest loss that this gate would have found, with that power, if it were the only finding.
  double detectable = 0;
  /// "same" says that the loss is below this.
  double same_within = 0;
  bool against_others = false;  // how "worse" was found: against the other cells, or on its own
};

struct GateOptions {
  double alpha = 0.01;  // probability that a gate without a change calls any cell worse
  double confidence = 0.95;
  double power = 0.9;
};

/// Judges all questions of a gate at once. "worse": the loss is at least `effect`, AND tests say that it is
/// more than drift. Two ways lead there. On its own: raw and calibrated losses are both above `drift`.
/// Against the others: the relative loss is above `relative_drift`, and raw and calibrated ones are above 0
/// (a cell does not get worse because others got better). The p value of a question is twice the smaller of
/// the two ways', and Holm's correction runs over all questions. "better" is the mirror image, in a family of
/// its own. "same": an upper confidence bound of the loss is below the larger of effect and drift. Otherwise
/// "ambiguous".
std::vector<Answer> judge_changes(std::span<const Question> questions, const GateOptions& options = {});

}  // namespace mirrorscale::harness

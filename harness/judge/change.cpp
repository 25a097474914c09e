#include "harness/judge/change.h"

#include "harness/judge/holm.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace mirrorscale::harness {
namespace {

/// The p values of both ways to one verdict.
struct Ways {
  double alone = 1;
  std::optional<double> against_others;
  /// Smaller of the two, paid for.
  double p() const { return against_others ? std::min(1.0, 2 * std::min(alone, *against_others)) : alone; }
  bool is_relative() const { return against_others && *against_others < alone; }
};

double drift_of(const ShiftTest& test, double drift) {
  return test.by_session ? 0 : drift;
}

/// `tail` is ShiftTest::p_above for worse, p_below for better. An effect below the limit is no finding, which
/// is said here, so that Holm's steps are not spent on it.
Ways ways_to(const Question& q, double sign, double (ShiftTest::*tail)(double) const) {
  Ways ways;
  if (sign * q.raw.shift < q.limits.effect) return ways;
  ways.alone = (q.raw.*tail)(drift_of(q.raw, q.limits.drift));
  if (q.calibrated) {
    ways.alone = std::max(ways.alone, (*q.calibrated.*tail)(drift_of(*q.calibrated, q.limits.drift)));
  }
  if (!q.relative || sign * q.relative->shift < q.limits.effect) return ways;
  double p = std::max((*q.relative.*tail)(drift_of(*q.relative, q.limits.relative_drift)), (q.raw.*tail)(0));
  if (q.calibrated) p = std::max(p, (*q.calibrated.*tail)(0));
  ways.against_others = p;
  return ways;
}

double detectable(const Question& q, double alpha, double power) {
  const double share = q.relative ? alpha / 2 : alpha;
  double alone = q.raw.detectable(drift_of(q.raw, q.limits.drift), share, power);
  if (q.calibrated) {
    alone = std::max(alone, q.calibrated->detectable(drift_of(*q.calibrated, q.limits.drift), share, power));
  }
  double least = alone;
  if (q.relative) {
    double relative = q.relative->detectable(drift_of(*q.relative, q.limits.relative_drift), share, power);
    relative = std::max(relative, q.raw.detectable(0, share, power));
    if (q.calibrated) relative = std::max(relative, q.calibrated->detectable(0, share, power));
    least = std::min(alone, relative);
  }
  return std::max(least, q.limits.effect);
}

std::vector<double> corrected(std::span<const Ways> ways) {
  std::vector<double> p;
  for (const Ways& w : ways) p.push_back(w.p());
  return holm_adjusted(p);
}

}  // namespace

std::string_view to_word(Change change) {
  switch (change) {
    case Change::kBetter:
      return "better";
    case Change::kSame:
      return "same";
    case Change::kWorse:
      return "worse";
    case Change::kAmbiguous:
      return "ambiguous";
    case Change::kMissing:
      return "missing";
    case Change::kNew:
      return "new";
  }
  throw std::logic_error("[to_word] no such change");
}

std::vector<Answer> judge_changes(std::span<const Question> questions, const GateOptions& options) {
  if (!(options.alpha > 0 && options.alpha < 0.5)) {
    throw std::invalid_argument(
        fmt::format("[gate] alpha {}; expected above 0 and below 0.5", options.alpha));
  }
  std::vector<Ways> worse, better;
  for (const Question& q : questions) {
    worse.push_back(ways_to(q, 1, &ShiftTest::p_above));
    better.push_back(ways_to(q, -1, &ShiftTest::p_below));
  }
  const std::vector<double> p_worse = corrected(worse), p_better = corrected(better);
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Question& q = questions[i];
    Answer answer{.p_worse = p_worse[i], .p_better = p_better[i]};
    answer.detectable = detectable(q, options.alpha / static_cast<double>(questions.size()), options.power);
    answer.same_within = std::max(q.limits.effect, drift_of(q.raw, q.limits.drift));
    answer.against_others = worse[i].is_relative();
    if (answer.p_worse <= options.alpha) {
      answer.change = Change::kWorse;
    } else if (answer.p_better <= options.alpha) {
      answer.change = Change::kBetter;
    } else if (q.raw.upper_bound(options.confidence) <= answer.same_within) {
      answer.change = Change::kSame;
    }
    answers.push_back(answer);
  }
  return answers;
}

}  // namespace mirrorscale::harness

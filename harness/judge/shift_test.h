#pragma once
#include <optional>
#include <span>

namespace mirrorscale::harness {

/// What one launch of a program gave: the unit of every test here. Slices of one launch share its addresses,
/// its pages and its minute, so they are no evidence of their own.
struct LaunchValue {
  double value = 0;  // a logarithm, so that a difference is a ratio
  int session = 0;   // launches close in time share the machine's state; see sessions.h
};

struct ShiftOptions {
  /// From this many sessions in the baseline on, sessions are the unit: then the drift of the machine from
  /// day to day is in the standard error. Below it launches are, and the caller needs a margin for drift.
  int fewest_sessions = 5;
  /// Below this a standard deviation is not believed: equal values are no proof that there is no noise.
  double smallest_deviation = 0.001;
};

/// By how much the candidate's mean is above the baseline's, and how sure that is.
struct ShiftTest {
  double shift = 0, standard_error = 0, degrees = 0;
  bool by_session = false;
  /// One-sided p value of "the true shift is above `margin`", and of "it is below -margin".
  double p_above(double margin) const;
  double p_below(double margin) const;
  /// The true shift is below this with that confidence.
  double upper_bound(double confidence) const;
  /// The smallest true shift that is found above `margin` at level `alpha` with that power (the usual
  /// approximation by a shifted t).
  double detectable(double margin, double alpha, double power) const;
};

/// Student's test of two groups with the larger of the pooled and Welch's standard error, since a machine may
/// be noisier today; by sessions: whether the candidate's mean fits among the means of the baseline's
/// sessions. Empty when there are fewer than 3 launches together, or a side has none. Throws
/// std::invalid_argument for a value that is not finite.
std::optional<ShiftTest> test_shift(std::span<const LaunchValue> baseline,
                                    std::span<const LaunchValue> candidate, const ShiftOptions& options = {});

}  // namespace mirrorscale::harness

#include "harness/judge/shift_test.h"

#include "harness/measure/student.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

struct Moments {
  double count = 0, mean = 0, squares = 0;  // squares: summed about the mean
  double variance() const { return count > 1 ? squares / (count - 1) : 0; }
};

Moments moments_of(std::span<const double> values) {
  Moments m{.count = static_cast<double>(values.size())};
  for (const double value : values) m.mean += value / m.count;
  for (const double value : values) m.squares += (value - m.mean) * (value - m.mean);
  return m;
}

std::vector<double> plain(std::span<const LaunchValue> launches) {
  std::vector<double> values;
  for (const LaunchValue& launch : launches) {
    if (!std::isfinite(launch.value))
      throw std::invalid_argument(fmt::format("[shift_test] {} among the values", launch.value));
    values.push_back(launch.value);
  }
  return values;
}

struct Sessions {
  std::vector<double> means;
  double within = 0;   // variance of launches of one session
  double degrees = 0;  // of `within`
  double size = 0;     // launches a session, harmonic mean
};

Sessions by_session(std::span<const LaunchValue> launches) {
  std::map<int, std::vector<double>> groups;
  for (const LaunchValue& launch : launches) groups[launch.session].push_back(launch.value);
  Sessions sessions;
  double squares = 0, inverse = 0;
  for (const auto& [session, values] : groups) {
    const Moments m = moments_of(values);
    sessions.means.push_back(m.mean);
    squares += m.squares;
    sessions.degrees += m.count - 1;
    inverse += 1 / m.count;
  }
  if (sessions.degrees > 0) sessions.within = squares / sessions.degrees;
  sessions.size = static_cast<double>(groups.size()) / inverse;
  return sessions;
}

ShiftTest among_sessions(const Sessions& baseline, const Sessions& candidate, double smallest_variance) {
  const Moments b = moments_of(baseline.means), c = moments_of(candidate.means);
  double variance = std::max(b.variance(), smallest_variance) * (1 / b.count + 1 / c.count);
  // A candidate of fewer launches a session is less exact than the sessions it is held against.
  variance += baseline.within * std::max(0.0, 1 / candidate.size - 1 / baseline.size) / c.count;
  return {c.mean - b.mean, std::sqrt(variance), b.count - 1, true};
}

}  // namespace

double ShiftTest::p_above(double margin) const {
  return student_upper_tail((shift - margin) / standard_error, degrees);
}
double ShiftTest::p_below(double margin) const {
  return student_upper_tail((-shift - margin) / standard_error, degrees);
}
double ShiftTest::upper_bound(double confidence) const {
  return shift + student_quantile_above(1 - confidence, degrees) * standard_error;
}
double ShiftTest::detectable(double margin, double alpha, double power) const {
  return margin + (student_quantile_above(alpha, degrees) + student_quantile_above(1 - power, degrees)) *
                      standard_error;
}

std::optional<ShiftTest> test_shift(std::span<const LaunchValue> baseline,
                                    std::span<const LaunchValue> candidate, const ShiftOptions& options) {
  const Moments b = moments_of(plain(baseline)), c = moments_of(plain(candidate));
  if (b.count == 0 || c.count == 0 || b.count + c.count < 3) return {};
  const double smallest_variance = options.smallest_deviation * options.smallest_deviation;
  const Sessions sessions = by_session(baseline);
  if (static_cast<int>(sessions.means.size()) >= std::max(2, options.fewest_sessions)) {
    return among_sessions(sessions, by_session(candidate), smallest_variance);
  }
  const double pooled_degrees = b.count + c.count - 2;
  const double pooled =
      std::max((b.squares + c.squares) / pooled_degrees, smallest_variance) * (1 / b.count + 1 / c.count);
  ShiftTest test{c.mean - b.mean, std::sqrt(pooled), pooled_degrees, false};
  if (b.count < 2 || c.count < 2) return test;
  const double of_b = b.variance() / b.count, of_c = c.variance() / c.count;
  if (of_b + of_c <= pooled * (1 + 1e-9)) return test;
  test.standard_error = std::sqrt(of_b + of_c);
  // Satterthwaite's degrees with one less a side: which standard error counts was chosen by the data.
  const auto share = [](double of, double count) { return of * of / std::max(1.0, count - 2); };
  test.degrees = (of_b + of_c) * (of_b + of_c) / (share(of_b, b.count) + share(of_c, c.count));
  return test;
}

}  // namespace mirrorscale::harness

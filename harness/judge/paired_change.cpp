#include "harness/judge/paired_change.h"

#include "harness/judge/holm.h"
#include "harness/measure/signed_rank.h"
#include "harness/measure/student.h"
#include "harness/measure/summary.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>

namespace mirrorscale::harness {
namespace {

constexpr double kToSigma = 1.4826;   // times the MAD: a normal's standard deviation
constexpr double kOverMean = 1.0233;  // standard error of a median of pair means over a mean's, sqrt(pi / 3)
constexpr double kRankTestPrice = 1.05;

constexpr double kLeastUncertainty = 1e-6;  // equal pairs are no proof that there is no noise

/// Adds to each restart's own uncertainty (of its pairs) what restarts differ by beyond it: DerSimonian and
/// Laird's estimate, of the values' sizes, so that it knows no signs and a change doesn't count as
/// difference.
void add_difference_of_restarts(std::span<const double> values, std::vector<double>& uncertainty) {
  double weights = 0, squares = 0, sum = 0, q = 0;
  const auto weight = [&](std::size_t r) { return 1 / (uncertainty[r] * uncertainty[r]); };
  for (std::size_t r = 0; r < values.size(); ++r) {
    weights += weight(r);
    squares += weight(r) * weight(r);
    sum += weight(r) * std::abs(values[r]);
  }
  for (std::size_t r = 0; r < values.size(); ++r) {
    const double off = std::abs(values[r]) - sum / weights;
    q += weight(r) * off * off;
  }
  const double beyond =
      std::max(0.0, (q - static_cast<double>(values.size() - 1)) / (weights - squares / weights));
  for (double& u : uncertainty) u = std::sqrt(u * u + beyond);
}

/// Deviation of a typical restart: what all of them would have, were they equally sure, for the same standard
/// error of the change.
double typical_deviation(std::span<const double> values, std::span<const double> uncertainty, double middle) {
  double squares = 0, weights = 0;
  for (std::size_t r = 0; r < values.size(); ++r) {
    const double residual = (values[r] - middle) / uncertainty[r];
    squares += residual * residual;
    weights += 1 / uncertainty[r];
  }
  const auto n = static_cast<double>(values.size());
  return std::sqrt(squares / (n - 1)) * n / weights;
}

/// Correlation of signs around the restart's median with the next pair's: a preempted slice counts as one.
struct SignCorrelation {
  double products = 0, count = 0;
  void add(std::span<const double> pairs, double middle) {
    for (std::size_t i = 1; i < pairs.size(); ++i) {
      if (pairs[i] == middle || pairs[i - 1] == middle) continue;
      products += (pairs[i] > middle) == (pairs[i - 1] > middle) ? 1 : -1;
      count += 1;
    }
  }
  /// Of normal values with that correlation of signs (Sheppard).
  double value() const { return count == 0 ? 0 : std::sin(products / count * std::acos(-1.0) / 2); }
};

std::string percent(double fraction) {
  return fmt::format("{:+.2f} %", fraction * 100);
}

}  // namespace

PairedChange paired_change(std::span<const std::vector<double>> log_ratios, double confidence) {
  if (log_ratios.size() < 2) {
    throw std::invalid_argument(
        fmt::format("[paired_change] {} restarts; expected at least 2", log_ratios.size()));
  }
  PairedChange result;
  SignCorrelation correlation;
  std::vector<double> deviations;
  double pairs = 0;
  for (std::size_t r = 0; r < log_ratios.size(); ++r) {
    const auto middle = median(log_ratios[r]);
    if (!middle) throw std::invalid_argument(fmt::format("[paired_change] restart {} has no pairs", r));
    result.restart_log_ratios.push_back(*median_of_pair_means(log_ratios[r]));
    deviations.push_back(kToSigma * *median_absolute_deviation(log_ratios[r]));
    result.restart_uncertainty.push_back(
        std::max(kLeastUncertainty,
                 kOverMean * deviations.back() / std::sqrt(static_cast<double>(log_ratios[r].size()))));
    correlation.add(log_ratios[r], *middle);
    pairs += static_cast<double>(log_ratios[r].size());
  }
  add_difference_of_restarts(result.restart_log_ratios, result.restart_uncertainty);
  const Interval log_change =
      *hodges_lehmann(result.restart_log_ratios, confidence, result.restart_uncertainty);
  result.change = {std::expm1(log_change.value), std::expm1(log_change.low), std::expm1(log_change.high)};
  std::vector<double> standardised;
  for (std::size_t r = 0; r < log_ratios.size(); ++r)
    standardised.push_back(result.restart_log_ratios[r] / result.restart_uncertainty[r]);
  const SignedRank test = signed_rank(standardised);
  result.p_slower = test.p_above;
  result.p_faster = test.p_below;
  result.pair_deviation = *median(deviations);
  result.restart_deviation =
      typical_deviation(result.restart_log_ratios, result.restart_uncertainty, log_change.value);
  result.neighbour_correlation = correlation.value();
  const double independent =
      kOverMean * result.pair_deviation / std::sqrt(pairs / static_cast<double>(log_ratios.size()));
  result.clustering = independent > 0 ? result.restart_deviation / independent : 1;
  return result;
}

double detectable_change(const PairedChange& change, double alpha, double power) {
  const std::size_t n = change.restart_log_ratios.size();
  if (least_signed_rank_p(n) > alpha) return std::numeric_limits<double>::infinity();
  const auto freedom = static_cast<double>(n - 1);
  const double points = student_quantile_above(alpha, freedom) + student_quantile_above(1 - power, freedom);
  return std::expm1(kRankTestPrice * points * change.restart_deviation / std::sqrt(static_cast<double>(n)));
}

void validate(const ChangeRule& rule) {
  const auto refuse = [](const char* field, double value, const char* expected) {
    throw std::invalid_argument(fmt::format("[ChangeRule] {} is {}; expected {}", field, value, expected));
  };
  if (!(rule.alpha > 0 && rule.alpha <= 0.2)) refuse("alpha", rule.alpha, "above 0 and at most 0.2");
  if (!(rule.floor >= 0 && rule.floor < 1)) refuse("floor", rule.floor, "0 or more, below 1");
  if (!(rule.same_within > 0 && rule.same_within < 1))
    refuse("same_within", rule.same_within, "above 0 and below 1");
}

std::vector<JudgedChange> judge(std::span<const PairedChange> cells, const ChangeRule& rule) {
  validate(rule);
  std::vector<double> slower, faster;
  for (const PairedChange& cell : cells) {
    slower.push_back(cell.p_slower);
    faster.push_back(cell.p_faster);
  }
  slower = holm_adjusted(slower);
  faster = holm_adjusted(faster);
  std::vector<JudgedChange> judged;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Interval& change = cells[i].change;
    JudgedChange j;
    j.p_slower = slower[i];
    j.p_faster = faster[i];
    j.detectable =
        std::max(rule.floor, detectable_change(cells[i], rule.alpha / static_cast<double>(cells.size())));
    const bool is_slower = slower[i] <= rule.alpha, is_faster = faster[i] <= rule.alpha;
    if (is_slower && change.value >= rule.floor) {
      j.verdict = Change::kWorse;
      j.why = fmt::format("B takes {} time (p {:.2g})", percent(change.value), slower[i]);
    } else if (is_faster && change.value <= -rule.floor) {
      j.verdict = Change::kBetter;
      j.why = fmt::format("B takes {} time (p {:.2g})", percent(change.value), faster[i]);
    } else if (change.low >= -rule.same_within && change.high <= rule.same_within) {
      j.verdict = Change::kSame;
      j.why = is_slower || is_faster ? fmt::format("a change of {} is sure, and below the floor of {:.2g} %",
                                                   percent(change.value), rule.floor * 100)
                                     : fmt::format("no change beyond {:.2g} %", rule.same_within * 100);
    } else {
      j.verdict = Change::kAmbiguous;
      j.why = fmt::format("between {} and {}: neither a change nor its absence is sure", percent(change.low),
                          percent(change.high));
    }
    judged.push_back(std::move(j));
  }
  return judged;
}

}  // namespace mirrorscale::harness

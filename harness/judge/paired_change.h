#pragma once
#include "harness/judge/change.h"
#include "harness/measure/interval.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::harness {

/// What a comparison in lockstep says about one cell: two sides A and B that took turns, slice by slice, in
/// several restarts. The unit of the test is the RESTART, not the pair of slices: pairs of one restart share
/// two address layouts and are alike. Restarts are independent, and where A and B are the same, who is called
/// B in a restart is a fair coin: each restart's value is even around 0 by design, so that the signed-rank
/// test of restart values keeps its false-alarm rate whatever pairs hang together inside. Restarts that
/// others on the machine disturbed have fewer and wilder pairs; ranks are of values over their uncertainty,
/// so that these count less. The uncertainty does not know signs, hence the rate of false alarms stays.
struct PairedChange {
  /// Of each restart: the median of the pair means of its log(B's time / A's).
  std::vector<double> restart_log_ratios;
  /// Their scales: of the restart's own pairs, and of what restarts differ by beyond that.
  std::vector<double> restart_uncertainty;
  Interval change;                    // of B's time, a fraction: 0.01 says that B takes 1 % longer
  double p_slower = 1, p_faster = 1;  // one-sided, B against A
  double pair_deviation = 0;          // of a pair's log ratio around its restart's, robust (1.4826 * MAD)
  double restart_deviation = 0;       // of a typical restart's log ratio
  double neighbour_correlation = 0;   // of a pair with the next one of its restart
  /// Restart deviation over what pairs without any correlation would give: 1 says that pairs are independent;
  /// 3, that a test of single pairs would believe in intervals a third as wide as the true ones.
  double clustering = 1;
};

/// `log_ratios[r]`: the pairs of restart r in order of time. Throws std::invalid_argument for fewer than 2
/// restarts, one without pairs, or a value that is not finite.
PairedChange paired_change(std::span<const std::vector<double>> log_ratios, double confidence = 0.95);

/// The smallest slowdown that would be called significant in `power` of comparisons with as many restarts of
/// this spread, each cell at `alpha`. Student's formula with 5 % on top for the rank test. Infinite where so
/// few restarts can never give such an alpha.
double detectable_change(const PairedChange& change, double alpha, double power = 0.95);

struct ChangeRule {
  double alpha = 0.005;       // chance of a false "worse", and of a false "better", over all cells together
  double floor = 0.005;       // a smaller change is no finding, however sure
  double same_within = 0.01;  // "same": the whole interval of the change is within ± this
};
/// Throws std::invalid_argument naming the field.
void validate(const ChangeRule& rule);

struct JudgedChange {
  Change verdict = Change::kAmbiguous;
  double p_slower = 1, p_faster = 1;  // Holm-adjusted over all cells
  double detectable = 0;              // at the level of the strictest step of Holm
  std::string why;                    // one sentence
};
/// worse: significantly slower (Holm over all cells) and by the floor at least; better: the mirror image.
/// Otherwise same, where the interval allows no more than `same_within`; else ambiguous.
std::vector<JudgedChange> judge(std::span<const PairedChange> cells, const ChangeRule& rule);

}  // namespace mirrorscale::harness

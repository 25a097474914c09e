#include "scenarios/gate/judgement.h"

#include "harness/judge/change.h"
#include "harness/judge/relative.h"
#include "scenarios/gate/evaluation.h"
#include "scenarios/gate/paired.h"
#include "scenarios/gate/results.h"
#include "scenarios/gate/tables.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace mirrorscale::scenarios {
namespace {

using harness::Change;

constexpr double kLargestLoss = 0.99;  // of what can't fall below nothing

/// 5 % less throughput is another ratio than 5 % more time.
double in_log(double limit, Metric metric) {
  return larger_is_better(metric) ? -std::log1p(-std::min(limit, kLargestLoss)) : std::log1p(limit);
}
harness::ChangeLimits in_logs(const MetricLimits& limits, Metric metric) {
  return {in_log(limits.effect, metric), in_log(limits.drift, metric), in_log(limits.relative_drift, metric)};
}

/// A loss in logarithms as a change of the metric itself.
double as_change(double loss, Metric metric) {
  return std::expm1(larger_is_better(metric) ? -loss : loss);
}
/// The size of a loss: 0.05 is 5 % of the metric.
double as_size(double loss, Metric metric) {
  return std::abs(as_change(loss, metric));
}

/// Findings in numbers, and the questions that decide them.
class NumberedFindings {
 public:
  NumberedFindings(const GateTables& tables, const GateConfig& config) : tables_(tables), config_(config) {}

  void add(Metric metric) {
    const harness::LaunchTable raw = tables_.losses(metric), calibrated = tables_.calibrated_losses(metric);
    const harness::LaunchTable relative = harness::relative_to_others(raw);
    for (std::size_t cell = 0; cell < tables_.cells().size(); ++cell) {
      const MetricLimits limits = config_.limits_of(tables_.cells()[cell], metric);
      const auto before = tables_.side(raw, cell, true), now = tables_.side(raw, cell, false);
      if (!limits.gated || before.empty() || now.empty()) continue;
      GateFinding finding{.cell_key = tables_.cells()[cell],
                          .metric = metric,
                          .baseline_launches = static_cast<int>(before.size()),
                          .candidate_launches = static_cast<int>(now.size()),
                          .effect = limits.effect};
      if (metric == Metric::kThroughput) finding.paired_detectable = paired_detectable(tables_, cell);
      const auto test = shift(raw, cell);
      if (!test) {
        finding.relative_change = as_change(now.front().value - before.front().value, metric);
        finding.detail = "one launch each: no test is possible; measure more launches";
        findings.push_back(std::move(finding));
        continue;
      }
      finding.relative_change = as_change(test->shift, metric);
      finding.by_session = test->by_session;
      questions_.push_back({*test, shift(calibrated, cell), shift(relative, cell), in_logs(limits, metric)});
      asked_.push_back(findings.size());
      findings.push_back(std::move(finding));
    }
  }

  void answer() {
    const std::vector<harness::Answer> answers = harness::judge_changes(questions_, config_.options);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      GateFinding& finding = findings[asked_[i]];
      finding.change = answers[i].change;
      finding.p = answers[i].p_worse;
      finding.detectable = as_size(answers[i].detectable, finding.metric);
      if (answers[i].change == Change::kWorse && answers[i].against_others) {
        finding.detail = "against the other cells of the same launches";
      } else if (answers[i].change == Change::kSame) {
        finding.detail =
            fmt::format("no loss above {:.3g} %", 100 * as_size(answers[i].same_within, finding.metric));
      } else if (answers[i].change == Change::kAmbiguous) {
        finding.detail = "neither a loss nor its absence is shown; more launches tell";
      }
    }
  }

  std::vector<GateFinding> findings;

 private:
  std::optional<harness::ShiftTest> shift(const harness::LaunchTable& table, std::size_t cell) const {
    return harness::test_shift(tables_.side(table, cell, true), tables_.side(table, cell, false),
                               {.fewest_sessions = config_.fewest_sessions});
  }

  const GateTables& tables_;
  const GateConfig& config_;
  std::vector<harness::Question> questions_;
  std::vector<std::size_t> asked_;  // finding of each question
};

void add_notes(const GateTables& tables, const GateConfig& config, const std::string& day,
               Judgement& judgement) {
  const auto& launches = tables.launches();
  const std::size_t first = tables.baseline_launches();
  if (first < launches.size() && launches[first]->run.started < launches[first - 1]->run.started) {
    judgement.notes.push_back(fmt::format(
        "the candidate ({}) began before the newest launch of the baseline ({}): an old record, or "
        "a clock that was set back",
        launches[first]->run.started, launches[first - 1]->run.started));
  }
  for (const Waiver& waiver : config.waivers) {
    if (day > waiver.until) {
      judgement.notes.push_back(fmt::format("the waiver of {} ended on {} and does not count; remove it ({})",
                                            waiver.match, waiver.until, waiver.reason));
    }
  }
}

}  // namespace

bool Judgement::failed() const {
  return std::ranges::any_of(findings, &GateFinding::fails);
}

int Judgement::count(Change change) const {
  return static_cast<int>(std::ranges::count(findings, change, &GateFinding::change));
}

Judgement judge(const std::vector<Launch>& baseline, const Candidate& candidate, const GateConfig& config,
                const std::string& day) {
  const GateTables tables(baseline, candidate, config);
  NumberedFindings numbers(tables, config);
  for (const Metric metric : noisy_metrics()) numbers.add(metric);
  numbers.answer();
  Judgement judgement;
  for (std::size_t cell = 0; cell < tables.cells().size(); ++cell) {
    if (config.limits_of(tables.cells()[cell], Metric::kResults).gated) {
      judgement.findings.push_back(judge_results(tables, cell));
    }
    for (const Metric metric : {Metric::kAccuracy, Metric::kValidationLoss}) {
      const MetricLimits limits = config.limits_of(tables.cells()[cell], metric);
      if (!limits.gated) continue;
      if (auto finding = judge_evaluation(tables, cell, metric, limits.effect)) {
        judgement.findings.push_back(std::move(*finding));
      }
    }
    for (GateFinding& finding : numbers.findings) {
      if (finding.cell_key == tables.cells()[cell]) judgement.findings.push_back(std::move(finding));
    }
  }
  for (GateFinding& finding : judgement.findings) {
    finding.fails = finding.change == Change::kWorse ||
                    (finding.change == Change::kMissing && config.missing_fails) ||
                    (finding.change == Change::kAmbiguous && config.ambiguous_fails);
    if (finding.fails) finding.waiver = config.waiver_of(finding.cell_key, finding.metric, day);
    if (finding.waiver != nullptr) finding.fails = false;
  }
  add_notes(tables, config, day, judgement);
  return judgement;
}

std::set<std::string> suspects_of(const Judgement& judgement) {
  std::set<std::string> cells;
  for (const GateFinding& finding : judgement.findings) {
    const bool noisy = std::ranges::find(noisy_metrics(), finding.metric) != noisy_metrics().end();
    if (finding.change == Change::kAmbiguous || (noisy && finding.change == Change::kWorse)) {
      cells.insert(finding.cell_key);
    }
  }
  return cells;
}

}  // namespace mirrorscale::scenarios

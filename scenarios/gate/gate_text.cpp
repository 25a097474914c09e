#include "harness/measure/summary.h"
#include "scenarios/gate/gate_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

using harness::Align;
using harness::Change;

constexpr double kMostShown = 9.99;

std::string percent(const std::optional<double>& fraction) {
  return fraction ? fmt::format("{:+.1f} %", 100 * *fraction) : "-";
}
std::string size_of(const std::optional<double>& fraction) {
  if (fraction && *fraction > kMostShown) return fmt::format("> {:.0f} %", 100 * kMostShown);
  return fraction ? fmt::format("{:.1f} %", 100 * *fraction) : "-";
}

/// A number for the order of lines: what needs eyes first.
int rank(const GateFinding& finding) {
  if (finding.fails) return 0;
  if (finding.waiver != nullptr) return 1;
  switch (finding.change) {
    case Change::kAmbiguous:
      return 2;
    case Change::kBetter:
      return 3;
    case Change::kMissing:
      return 4;
    case Change::kNew:
      return 5;
    default:
      return 6;
  }
}

std::vector<const GateFinding*> in_order(const Judgement& judgement) {
  std::vector<const GateFinding*> ordered;
  for (const GateFinding& finding : judgement.findings) ordered.push_back(&finding);
  std::ranges::stable_sort(ordered, {}, [](const GateFinding* f) { return rank(*f); });
  return ordered;
}

std::string verdict_words(const GateFinding& finding) {
  const std::string word(harness::to_word(finding.change));
  return finding.fails ? "FAIL " + word : finding.waiver != nullptr ? "waived " + word : word;
}

std::string detail_words(const GateFinding& finding) {
  if (finding.waiver == nullptr) return finding.detail;
  return fmt::format("until {}: {}", finding.waiver->until, finding.waiver->reason);
}

std::string median_size(const std::vector<double>& values) {
  const auto middle = harness::median(values);
  return middle ? fmt::format("{:.1f} %", 100 * *middle) : "unknown";
}

}  // namespace

harness::Table finding_table(const GateReport& report) {
  harness::Table table({{"verdict", Align::kLeft},
                        {"cell", Align::kLeft},
                        {"metric", Align::kLeft},
                        {"launches"},
                        {"change"},
                        {"p"},
                        {"detectable"},
                        {"why", Align::kLeft}});
  for (const GateFinding* f : in_order(report.judgement)) {
    table.add_row(
        {verdict_words(*f), f->cell_key, std::string(to_word(f->metric)),
         fmt::format("{} : {}{}", f->baseline_launches, f->candidate_launches, f->by_session ? " s" : ""),
         percent(f->relative_change), f->p ? fmt::format("{:.2g}", *f->p) : "-", size_of(f->detectable),
         detail_words(*f)});
  }
  return table;
}

std::string counts_of(const Judgement& judgement) {
  std::string text;
  for (const Change change :
       {Change::kWorse, Change::kMissing, Change::kAmbiguous, Change::kBetter, Change::kNew, Change::kSame}) {
    if (const int count = judgement.count(change); count > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, harness::to_word(change));
    }
  }
  const auto waived =
      std::ranges::count_if(judgement.findings, [](const GateFinding& f) { return f.waiver != nullptr; });
  if (waived > 0) text += fmt::format("; {} waived", waived);
  return text.empty() ? "nothing to compare" : text;
}

std::string strength_of(const GateReport& report) {
  std::vector<double> stored, fastest, paired;
  bool by_session = false;
  for (const GateFinding& finding : report.judgement.findings) {
    if (finding.metric == Metric::kStepMin && finding.detectable) fastest.push_back(*finding.detectable);
    if (finding.metric != Metric::kThroughput) continue;
    if (finding.detectable) stored.push_back(*finding.detectable);
    if (finding.paired_detectable) paired.push_back(*finding.paired_detectable);
    by_session = by_session || finding.by_session;
  }
  if (stored.empty()) return {};
  std::string text = fmt::format(
      "strength: found with 90 % power (medians over cells): a throughput {} lower, a fastest step {} "
      "longer; a "
      "gate without a change alarms in at most {:.2g} %.\n",
      median_size(stored), median_size(fastest), 100 * report.alpha);
  if (!paired.empty()) {
    text += fmt::format(
        "This gate holds today's launches against stored ones. The same cells in turns with the old build "
        "(`mirrorscale compare`, {:.0f} s a side) would show {}.\n",
        15.0, median_size(paired));
  }
  if (!by_session) {
    text +=
        "The baseline has fewer sessions than it takes to know the drift of this machine from day to day: "
        "the limits `drift` stand in for it. `baseline save --add` on more days makes this gate sharper.\n";
  }
  return text;
}

std::string to_text(const GateReport& report) {
  std::string text = fmt::format(
      "baseline {} ({} launches, {}), candidate {} ({} launches{})\n", report.baseline.id,
      report.baseline_launches, report.baseline.measured_revision, report.candidate.git_revision,
      report.candidate_launches,
      report.confirming_launches > 0 ? fmt::format(", {} more to confirm", report.confirming_launches) : "");
  text += finding_table(report).to_text();
  if (std::ranges::any_of(report.judgement.findings, &GateFinding::by_session)) {
    text += "s: sessions are the unit of the test, not launches\n";
  }
  for (const std::string& note : report.judgement.notes) text += "note: " + note + "\n";
  text += strength_of(report);
  text += fmt::format("gate: {} ({})\n", report.judgement.failed() ? "FAILED" : "passed",
                      counts_of(report.judgement));
  return text;
}

std::string to_markdown(const GateReport& report) {
  std::string text =
      fmt::format("## mirrorscale gate: {}\n\n{}\n\n", report.judgement.failed() ? "FAILED" : "passed",
                  counts_of(report.judgement));
  text +=
      fmt::format("Baseline `{}` ({}, {} launches) against `{}` ({} launches) on {}.\n\n", report.baseline.id,
                  report.baseline.measured_revision, report.baseline_launches, report.candidate.git_revision,
                  report.candidate_launches + report.confirming_launches, machine_words(report.candidate));
  text += finding_table(report).to_markdown() + "\n";
  for (const std::string& note : report.judgement.notes) text += "- note: " + note + "\n";
  text += "\n" + strength_of(report);
  return text;
}

}  // namespace mirrorscale::scenarios

#include "scenarios/compare/report.h"

#include "harness/output/format.h"
#include "harness/output/table.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <map>

namespace mirrorscale::scenarios {
namespace {

#if defined(__GNUC__)
[[gnu::format(printf, 1, 2)]]
#endif
std::string
text_of(const char* format, ...) {
  char line[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(line, sizeof line, format, values);
  va_end(values);
  return line;
}

std::string percent(double fraction, int decimals = 2) {
  return std::isfinite(fraction) ? text_of("%+.*f %%", decimals, fraction * 100) : "none";
}

std::string size_of(double fraction) {
  return std::isfinite(fraction) ? text_of("%.2f %%", fraction * 100) : "none";
}

harness::Table table_of(const CompareReport& report) {
  using harness::Align;
  harness::Table table({{"cell", Align::kLeft},
                        {"A step ms"},
                        {"B step ms"},
                        {"B's time"},
                        {"95 % interval"},
                        {"p slower"},
                        {"detectable"},
                        {"clock", Align::kLeft},
                        {"preempted A/B"},
                        {"result", Align::kLeft},
                        {"verdict", Align::kLeft}});
  for (std::size_t i = 0; i < report.cells.size(); ++i) {
    const CellComparison& cell = report.cells[i];
    const std::optional<bool> same = cell.same_result();
    const std::string result = !same ? "-" : *same ? "same" : "DIFFERENT";
    if (!report.judgements[i]) {
      std::vector<std::string> row{cell.cell.name};
      row.insert(row.end(), 8, "-");
      row.insert(row.end(), {result, cell.check_failed() ? "CHECK FAILED" : "NOT TIMED"});
      table.add_row(row);
      continue;
    }
    const CellJudgement& j = *report.judgements[i];
    const harness::Interval& change = j.change().change;
    const SideTimes a = times_of(cell, true), b = times_of(cell, false);
    const auto share = [](const SideTimes& t) {
      return text_of(
          "%.0f %%",
          t.slices == 0 ? 0.0 : 100.0 * static_cast<double>(t.preempted) / static_cast<double>(t.slices));
    };
    std::string verdict(harness::to_word(j.judged.verdict));
    if (j.judged.verdict == harness::Change::kWorse) verdict = "WORSE";
    table.add_row({cell.cell.name, harness::format_ms(a.step_s), harness::format_ms(b.step_s),
                   percent(change.value), percent(change.low) + " … " + percent(change.high),
                   text_of("%.2g", j.judged.p_slower), size_of(j.judged.detectable),
                   j.clock == SliceClock::kCpu ? "cpu" : "wall", share(a) + " / " + share(b), result,
                   verdict});
  }
  return table;
}

std::vector<std::string> remarks(const CompareReport& report) {
  std::vector<std::string> lines;
  if (report.same_sides) lines.emplace_back("A and B are the same: this measures the machine, not a change");
  if (!report.random_layouts)
    lines.emplace_back("this system gives every process the same addresses: restarts repeat one layout");
  if (report.planted_b > 0)
    lines.push_back("planted: side B is busy for " + size_of(report.planted_b) + " of a step more");
  for (std::size_t i = 0; i < report.cells.size(); ++i) {
    const CellComparison& cell = report.cells[i];
    const std::string name = cell.cell.name + ": ";
    if (!cell.reason.empty()) lines.push_back(name + cell.reason);
    if (!report.judgements[i]) continue;
    const CellJudgement& j = *report.judgements[i];
    lines.push_back(name + j.judged.why);
    if (j.clock == SliceClock::kCpu) {
      lines.push_back(name + "others took cores away in many slices, wall time is uneven (" +
                      percent(j.wall.change.low) + " … " + percent(j.wall.change.high) +
                      "), CPU time was judged; it doesn't see time spent waiting");
    }
    if (j.change().clustering > 2) {
      lines.push_back(name +
                      text_of("restarts differ %.1f times as much as their pairs explain; single pairs would "
                              "have claimed too much",
                              j.change().clustering));
    }
    if (std::isinf(j.judged.detectable)) {
      lines.push_back(name + "so few restarts can never be significant; give more --restarts");
    }
    const auto unsettled = std::count_if(cell.restarts.begin(), cell.restarts.end(),
                                         [](const Restart& r) { return !r.settled; });
    if (unsettled > 0)
      lines.push_back(name + text_of("warm-up did not settle in %d of %zu restarts",
                                     static_cast<int>(unsettled), cell.restarts.size()));
    if (cell.same_result() == false) {
      lines.push_back(name + "A and B compute different results (weight hash " + cell.check_a.weight_hash +
                      ", " + cell.check_b.weight_hash + ")");
    }
    if (cell.check_a.oversubscribed || cell.check_b.oversubscribed)
      lines.push_back(name + "more devices than cores: a comparison of how threads take turns");
  }
  return lines;
}

std::string conclusion(const CompareReport& report) {
  std::map<std::string, int> counts;
  for (const auto& judgement : report.judgements)
    ++counts[judgement ? std::string(harness::to_word(judgement->judged.verdict)) : "not timed"];
  std::string text;
  for (const auto& [word, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + word;
  return text + text_of("; %d restarts, %.0f s in all; a false \"worse\" has at most %.2g %% over all cells",
                        report.restarts, report.elapsed_s, report.rule.alpha * 100);
}

std::string build_line(const char* side, const BuildInfo& build) {
  return std::string(side) + ": " + build.program + " (" + build.version + ", " + build.revision + ")";
}

}  // namespace

bool CompareReport::worse() const {
  return std::any_of(judgements.begin(), judgements.end(),
                     [](const auto& j) { return j && j->judged.verdict == harness::Change::kWorse; });
}

bool CompareReport::check_failed() const {
  return std::any_of(cells.begin(), cells.end(), [](const CellComparison& c) { return c.check_failed(); });
}

std::string to_text(const CompareReport& report) {
  std::string text = build_line("A", report.build_a) + "\n" + build_line("B", report.build_b) + "\n" +
                     table_of(report).to_text();
  for (const std::string& line : remarks(report)) text += line + "\n";
  return text + conclusion(report) + "\n";
}

std::string to_markdown(const CompareReport& report) {
  std::string text = std::string("### mirrorscale compare: ") +
                     (report.worse()          ? "**worse**"
                      : report.check_failed() ? "**check failed**"
                                              : "nothing worse") +
                     "\n\n- " + build_line("A", report.build_a) + "\n- " + build_line("B", report.build_b) +
                     "\n\n" + table_of(report).to_markdown() + "\n";
  for (const std::string& line : remarks(report)) text += "- " + line + "\n";
  return text + "\n" + conclusion(report) + "\n";
}

}  // namespace mirrorscale::scenarios

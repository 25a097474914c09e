#include "scenarios/history/series.h"

#include "harness/judge/sessions.h"
#include "harness/measure/summary.h"
#include "scenarios/gate/config.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace mirrorscale::scenarios {
namespace {

constexpr int kMostPermutations = 20'000;

/// The metric itself; losses are logarithms with a sign.
std::optional<double> value_of(const harness::CellRecord& cell, Metric metric) {
  const std::optional<double> loss = loss_of(cell, metric);
  if (!loss) return {};
  return std::exp(larger_is_better(metric) ? -*loss : *loss);
}

std::vector<HistoryPoint> points_of(const std::vector<Launch>& launches, const std::vector<int>& session,
                                    const std::string& cell_key, Metric metric) {
  std::vector<HistoryPoint> points;
  std::vector<double> group;
  int group_session = -1;
  for (std::size_t l = 0; l < launches.size(); ++l) {
    const auto& cells = launches[l].cells;
    const auto cell = std::ranges::find(cells, cell_key, &harness::CellRecord::cell_key);
    const auto value = cell == cells.end() ? std::nullopt : value_of(*cell, metric);
    if (!value) continue;
    const harness::RunRecord& run = launches[l].run;
    if (points.empty() || session[l] != group_session || run.git_revision != points.back().revision) {
      points.push_back({0, run.started, run.git_revision, 0});
      group.clear();
      group_session = session[l];
    }
    group.push_back(*value);
    points.back().value = *harness::median(group);
    ++points.back().launches;
  }
  return points;
}

std::string short_revision(const std::string& revision) {
  return revision.size() > 12 ? revision.substr(0, 12) : revision;
}

}  // namespace

std::vector<HistorySeries> series_of(const std::vector<Launch>& launches, const HistoryOptions& options) {
  std::vector<std::string> keys, started;
  for (const Launch& launch : launches) {
    started.push_back(launch.run.started);
    for (const harness::CellRecord& cell : launch.cells) {
      if (matches(options.match, cell.cell_key) && std::ranges::find(keys, cell.cell_key) == keys.end()) {
        keys.push_back(cell.cell_key);
      }
    }
  }
  const std::vector<int> session = harness::session_numbers(started, options.session_gap_s);
  std::vector<HistorySeries> all;
  for (const std::string& key : keys) {
    HistorySeries series{key, options.metric, points_of(launches, session, key, options.metric), {}};
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  harness::ChangePointOptions search;
  search.alpha = options.alpha / static_cast<double>(std::max<std::size_t>(1, all.size()));
  search.permutations = static_cast<int>(std::clamp(2 / search.alpha, 1999.0, 1.0 * kMostPermutations));
  for (HistorySeries& series : all) {
    std::vector<double> logs;
    for (const HistoryPoint& point : series.points) logs.push_back(std::log(point.value));
    series.changes = harness::change_points(logs, search);
    for (harness::ChangePoint& change : series.changes) {
      change.before = std::exp(change.before);
      change.after = std::exp(change.after);
    }
  }
  return all;
}

std::string commits_of(const HistorySeries& series, const harness::ChangePoint& change) {
  const HistoryPoint &last = series.points[change.index - 1], &first = series.points[change.index];
  if (last.revision == first.revision) {
    return "no commit: " + short_revision(first.revision) +
           " on both sides; the machine changed, or its software";
  }
  return "commits " + short_revision(last.revision) + ".." + short_revision(first.revision);
}

}  // namespace mirrorscale::scenarios

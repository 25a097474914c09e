#include "harness/output/file.h"
#include "harness/output/table.h"
#include "harness/record/record_file.h"
#include "scenarios/commands/command.h"
#include "scenarios/commands/python.h"
#include "scenarios/exit_status.h"
#include "scenarios/history/series.h"
#include "scenarios/history/sparkline.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

namespace fs = std::filesystem;

struct HistoryCommand {
  std::string store = ".mirrorscale/history", metric = "throughput", match = "*", json, figure;
  double alpha = 0.01;
  std::vector<fs::path> records;
};

/// One file for each machine and plan, to which launches are only ever added.
fs::path file_of(const HistoryCommand& o, const harness::RunRecord& run) {
  return fs::path(o.store) / run.machine_fingerprint / (run.plan_fingerprint + ".jsonl");
}

int add(const HistoryCommand& o) {
  const LaunchFiles files = read_launches(o.records, TornLine::kRefuse);
  const fs::path path = file_of(o, files.launches.front().run);
  harness::RecordFile history(path);
  std::size_t added = 0;
  for (const Launch& launch : files.launches) {
    const auto& runs = history.records().runs;
    if (std::ranges::find(runs, launch.run.run_id, &harness::RunRecord::run_id) != runs.end()) continue;
    history.append(launch.run);
    for (const harness::CellRecord& cell : launch.cells) history.append(cell);
    ++added;
  }
  std::printf("%zu launches added, %zu were there already; %s has %zu\n", added,
              files.launches.size() - added, path.c_str(), history.records().runs.size());
  return kGood;
}

nlohmann::ordered_json to_object(const HistorySeries& series) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array(), changes = points;
  for (const HistoryPoint& p : series.points) {
    points.push_back(
        {{"started", p.started}, {"git_revision", p.revision}, {"launches", p.launches}, {"value", p.value}});
  }
  for (const harness::ChangePoint& c : series.changes) {
    changes.push_back({{"index", c.index},
                       {"before", c.before},
                       {"after", c.after},
                       {"p", c.p},
                       {"last_before", series.points[c.index - 1].revision},
                       {"first_after", series.points[c.index].revision}});
  }
  return {{"cell_key", series.cell_key},
          {"metric", to_word(series.metric)},
          {"points", std::move(points)},
          {"changes", std::move(changes)}};
}

void print(const std::string& title, const std::vector<HistorySeries>& all) {
  using harness::Align;
  std::printf("%s\n", title.c_str());
  harness::Table table(
      {{"cell", Align::kLeft}, {"points"}, {"first"}, {"last"}, {"series", Align::kLeft}, {"changes"}});
  for (const HistorySeries& series : all) {
    std::vector<double> values;
    for (const HistoryPoint& point : series.points) values.push_back(point.value);
    table.add_row({series.cell_key, std::to_string(values.size()), fmt::format("{:.4g}", values.front()),
                   fmt::format("{:.4g}", values.back()), sparkline(values),
                   std::to_string(series.changes.size())});
  }
  std::printf("%s", table.to_text().c_str());
  for (const HistorySeries& series : all) {
    for (const harness::ChangePoint& change : series.changes) {
      const double by = change.after / change.before - 1;
      const bool better = (by > 0) == larger_is_better(series.metric);
      std::printf("%s %s: %+.1f %% since %s (p %.2g); %s\n", better ? "better" : "worse",
                  series.cell_key.c_str(), 100 * by, series.points[change.index].started.c_str(), change.p,
                  commits_of(series, change).c_str());
    }
  }
}

/// The series as a picture, by way of a file that is gone afterwards.
int draw(const std::string& series, const std::string& figure) {
  std::fflush(stdout);  // Python writes to it too
  const fs::path between = figure + ".series.json";
  harness::write_file_atomically(between, series);
  int status = kCouldNotRun;
  try {
    status = run_reports({"mirrorscale_reports.history", between.string(), "--out", figure});
  } catch (...) {
    fs::remove(between);
    throw;
  }
  fs::remove(between);
  return status;
}

int show(const HistoryCommand& o) {
  HistoryOptions options{.metric = metric_from_word(o.metric), .match = o.match, .alpha = o.alpha};
  if (options.metric == Metric::kResults)
    throw std::invalid_argument("[history] 'results' are no number; see `mirrorscale gate`");
  if (!(o.alpha > 0 && o.alpha < 1))
    throw std::invalid_argument("[history] --alpha needs to be above 0, below 1");
  if (const std::string kind = fs::path(o.figure).extension();
      !o.figure.empty() && kind != ".png" && kind != ".svg")
    throw std::invalid_argument("[history] --figure " + o.figure + ": a figure is a .png or a .svg");
  std::vector<fs::path> files;
  std::error_code missing;
  if (fs::is_directory(o.store, missing)) {
    for (const auto& entry : fs::recursive_directory_iterator(o.store)) {
      if (entry.is_regular_file() && entry.path().extension() == ".jsonl") files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  if (files.empty()) {
    throw std::runtime_error("[history] " + o.store +
                             " holds no runs; add some with `mirrorscale history add RECORDS...`");
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const fs::path& file : files) {
    const LaunchFiles found = read_launches(std::vector{file}, TornLine::kDrop);
    for (const std::string& note : found.notes) std::printf("note: %s\n", note.c_str());
    const harness::RunRecord& run = found.launches.front().run;
    const std::vector<HistorySeries> series = series_of(found.launches, options);
    print(fmt::format("{} of plan {} on {}: {} launches", o.metric, run.plan_fingerprint, machine_words(run),
                      found.launches.size()),
          series);
    for (const HistorySeries& s : series) {
      nlohmann::ordered_json object = to_object(s);
      object["machine_fingerprint"] = run.machine_fingerprint;
      object["plan_fingerprint"] = run.plan_fingerprint;
      all.push_back(std::move(object));
    }
  }
  if (all.empty()) {
    throw std::invalid_argument("[history] nothing to show: no cell that matches '" + o.match + "' has " +
                                o.metric);
  }
  if (!o.json.empty()) harness::write_file_atomically(o.json, all.dump(1) + "\n");
  return o.figure.empty() ? kGood : draw(all.dump(1) + "\n", o.figure);
}

}  // namespace

void add_history(CLI::App& app, CommandContext& context) {
  const auto o = std::make_shared<HistoryCommand>();
  CLI::App* command = app.add_subcommand(
      "history", "Keeps every run, and shows since which commits a cell is slower or faster");
  command->require_subcommand(1);
  command->footer("Exit status: 0 good, 2 misuse, 3 could not run.");
  CLI::App* adding =
      command->add_subcommand("add", "Keep launches of one plan; those that are there stay as they are");
  adding->add_option("records", o->records, "what sweeps wrote (.jsonl)")->required();
  CLI::App* showing = command->add_subcommand(
      "show", "A line a cell, and where its level changed (e-divisive, with a permutation test)");
  showing
      ->add_option("--metric", o->metric,
                   "throughput, efficiency, step_min, step_p95, memory, accuracy, validation_loss")
      ->capture_default_str();
  showing->add_option("--cell", o->match, "pattern of cell keys")->capture_default_str();
  showing->add_option("--alpha", o->alpha, "chance of a false change in any of the series")
      ->capture_default_str();
  showing->add_option("--json", o->json, "also write the series as JSON");
  showing->add_option("--figure", o->figure,
                      "also draw them: FILE.png or FILE.svg (needs python3 and matplotlib)");
  for (CLI::App* part : {adding, showing}) {
    part->add_option("--store", o->store, "folder of runs")->capture_default_str();
  }
  adding->callback([o, &context] { context.status = add(*o); });
  showing->callback([o, &context] { context.status = show(*o); });
}

}  // namespace mirrorscale::scenarios

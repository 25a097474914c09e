#include "harness/output/file.h"
#include "harness/record/environment.h"
#include "scenarios/commands/command.h"
#include "scenarios/exit_status.h"
#include "scenarios/gate/gate_report.h"
#include "scenarios/gate/measure_now.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

struct GateCommand {
  std::vector<std::filesystem::path> records;
  std::string store = kDefaultStore, baseline, config, folder = "runs/gate";
  std::string junit, markdown, json;
  int measure = 0;
  bool confirm = false, other_machine = false;
};

std::string known_baselines(const BaselineStore& store) {
  std::vector<DamagedBaseline> damaged;
  std::string text;
  for (const Baseline& b : store.all(damaged)) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", b.header.id, b.header.machine);
  }
  return text.empty() ? store.folder().string() + " has none" : store.folder().string() + " has " + text;
}

/// The baseline for records that are there: the one named, or the newest of the same machine and plan.
Baseline baseline_for(const harness::RunRecord& run, const GateCommand& o) {
  const BaselineStore store(o.store);
  if (!o.baseline.empty()) return store.find(o.baseline);
  if (auto found = store.newest(run.machine_fingerprint, run.plan_fingerprint)) return *std::move(found);
  if (o.other_machine) {
    if (auto found = store.newest_of_plan(run.plan_fingerprint)) return *std::move(found);
  }
  throw std::runtime_error(fmt::format(
      "[gate] no baseline of this plan on this machine ({}): {}. Save one with `mirrorscale baseline "
      "save`, take one of this plan from another machine with --other-machine, or name one with --baseline",
      machine_words(run), known_baselines(store)));
}

void require_new(const Baseline& baseline, const std::vector<Launch>& candidate) {
  for (const Launch& stored : baseline.launches) {
    for (const Launch& launch : candidate) {
      if (launch.run.run_id != stored.run.run_id) continue;
      throw std::invalid_argument(fmt::format(
          "[gate] launch {} is one of the baseline {}: compared with itself nothing is ever worse; give "
          "launches that were measured after it",
          stored.run.run_id, baseline.header.id));
    }
  }
}

/// The baseline whose plan is to be measured: the one named, or the only plan in the store.
Baseline baseline_to_measure(const GateCommand& o) {
  const BaselineStore store(o.store);
  if (!o.baseline.empty()) return store.find(o.baseline);
  std::vector<DamagedBaseline> damaged;
  std::vector<Baseline> all = store.all(damaged);
  if (!damaged.empty()) throw std::runtime_error(damaged.front().reason);
  if (all.empty()) throw std::runtime_error("[gate] nothing to compare with: " + known_baselines(store));
  for (const Baseline& b : all) {
    if (b.path.parent_path() != all.front().path.parent_path()) {
      throw std::invalid_argument("[gate] several plans or machines; name one with --baseline: " +
                                  known_baselines(store));
    }
  }
  return std::move(all.back());
}

void require_machine(const Baseline& baseline, const harness::RunRecord& run, bool other_machine) {
  if (run.machine_fingerprint == baseline.header.machine_fingerprint || other_machine) return;
  throw std::invalid_argument(fmt::format(
      "[gate] the baseline {} is of another machine ({}), the candidate of {}: their difference says "
      "nothing about the program. --other-machine compares them all the same",
      baseline.header.id, baseline.header.machine, machine_words(run)));
}

void append(std::vector<Launch>& launches, LaunchFiles more, std::vector<std::string>& notes) {
  launches.insert(launches.end(), std::make_move_iterator(more.launches.begin()),
                  std::make_move_iterator(more.launches.end()));
  notes.insert(notes.end(), more.notes.begin(), more.notes.end());
}

int gate(const GateCommand& o, const std::vector<std::string>& command) {
  const GateConfig config = o.config.empty() ? GateConfig{} : read_gate_config(o.config);
  for (const std::string& path : {o.junit, o.markdown, o.json}) {
    if (!path.empty()) harness::require_writable(path);
  }
  std::vector<std::string> notes;
  Candidate candidate;
  Baseline baseline;
  if (o.measure > 0) {
    baseline = baseline_to_measure(o);
    const harness::Plan& plan = baseline.launches.front().run.plan;
    append(candidate.launches, read_launches(measure_now(plan, o.measure, o.folder), TornLine::kDrop), notes);
  } else {
    append(candidate.launches, read_launches(o.records, TornLine::kDrop), notes);
    baseline = baseline_for(candidate.launches.front().run, o);
  }
  require_machine(baseline, candidate.launches.front().run, o.other_machine);
  require_new(baseline, candidate.launches);
  const std::string day = harness::utc_now().substr(0, 10);
  Judgement judgement = judge(baseline.launches, candidate, config, day);
  const std::size_t first = candidate.launches.size();
  candidate.suspects = suspects_of(judgement);
  if (o.confirm && !candidate.suspects.empty()) {
    const harness::Plan& plan = baseline.launches.front().run.plan;
    candidate.confirming = first;
    append(candidate.launches, read_launches(measure_now(plan, o.measure, o.folder), TornLine::kDrop), notes);
    judgement = judge(baseline.launches, candidate, config, day);
    notes.push_back(fmt::format("{} cells were worse or ambiguous and are judged with {} more launches",
                                candidate.suspects.size(), candidate.launches.size() - first));
  }
  judgement.notes.insert(judgement.notes.begin(), notes.begin(), notes.end());
  const GateReport report{std::move(judgement),
                          baseline.header,
                          candidate.launches.front().run,
                          static_cast<int>(baseline.launches.size()),
                          static_cast<int>(first),
                          static_cast<int>(candidate.launches.size() - first),
                          o.other_machine,
                          config.options.alpha,
                          command};
  std::printf("%s", to_text(report).c_str());
  if (!o.junit.empty()) harness::write_file_atomically(o.junit, to_junit(report));
  if (!o.markdown.empty()) harness::write_file_atomically(o.markdown, to_markdown(report));
  if (!o.json.empty()) harness::write_file_atomically(o.json, to_json(report));
  return report.judgement.failed() ? kFinding : kGood;
}

}  // namespace

void add_gate(CLI::App& app, CommandContext& context) {
  const auto o = std::make_shared<GateCommand>();
  CLI::App* command = app.add_subcommand(
      "gate",
      "Did it get worse than the baseline? Every cell and metric is judged by an effect threshold and a "
      "test;\n"
      "the chance that a gate without a change alarms anywhere is kept below 1 %. Better never fails.");
  auto* records = command->add_option(
      "records", o->records,
      "the candidate: record files of a plan, each a launch (5 or more are a good start)");
  auto* measure =
      command->add_option("--measure", o->measure, "measure the baseline's plan now, in this many launches")
          ->check(CLI::Range(1, 1000));
  records->excludes(measure);
  command
      ->add_flag("--confirm", o->confirm,
                 "before anything is said of cells that look worse or ambiguous, measure the plan once more")
      ->needs(measure);
  command->add_option("--store", o->store, "folder of baselines")->capture_default_str();
  command->add_option("--baseline", o->baseline,
                      "id of a baseline, or how it begins [the newest of this machine and plan]");
  command->add_flag("--other-machine", o->other_machine, "the baseline may be of another kind of machine");
  command->add_option("--config", o->config, "TOML file: limits by metric and cell, waivers (docs/gate.md)");
  command->add_option("--records-folder", o->folder, "where --measure leaves its records")
      ->capture_default_str();
  command->add_option("--junit", o->junit, "also write JUnit XML");
  command->add_option("--markdown", o->markdown, "also write a summary in Markdown");
  command->add_option("--json", o->json, "also write JSON (reports/gate.schema.json)");
  command->footer(
      "Exit status: 0 nothing got worse, 1 a cell got worse or is missing, 2 misuse (another machine, "
      "several\n"
      "plans, a bad config), 3 could not run (no baseline, a damaged one, records that contradict "
      "themselves).");
  command->callback([o, &context] {
    if (o->measure == 0 && o->records.empty()) {
      throw std::invalid_argument("[gate] nothing to judge; give record files, or --measure 5");
    }
    context.status = gate(*o, context.arguments);
  });
}

}  // namespace mirrorscale::scenarios

#include "harness/judge/sessions.h"
#include "harness/output/table.h"
#include "scenarios/baseline/store.h"
#include "scenarios/commands/command.h"
#include "scenarios/exit_status.h"
#include "scenarios/gate/config.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

struct BaselineOptions {
  std::string store = kDefaultStore, id, note;
  std::vector<std::filesystem::path> records;
  int keep = 5;
  bool add = false;
};

int sessions_of(const std::vector<Launch>& launches) {
  std::vector<std::string> started;
  for (const Launch& launch : launches) started.push_back(launch.run.started);
  const std::vector<int> numbers = harness::session_numbers(started, GateConfig{}.session_gap_s);
  return numbers.empty() ? 0 : *std::ranges::max_element(numbers) + 1;
}

int save(const BaselineOptions& o, const std::vector<std::string>& command) {
  const BaselineStore store(o.store);
  std::vector<Launch> launches = read_launches(o.records, TornLine::kRefuse).launches;
  if (o.add) {
    const harness::RunRecord& run = launches.front().run;
    if (const auto before = store.newest(run.machine_fingerprint, run.plan_fingerprint)) {
      launches.insert(launches.begin(), before->launches.begin(), before->launches.end());
    }
  }
  for (const Launch& launch : launches) {
    for (const harness::CellRecord& cell : launch.cells) {
      if (cell.status == harness::CellStatus::kOk) continue;
      throw std::invalid_argument("[baseline] cell " + cell.cell_key + " of launch " + launch.run.run_id +
                                  " is not good (" + cell.reason +
                                  "); a baseline holds good cells only: mend it, or take it out of the plan");
    }
  }
  const Baseline saved = store.save(std::move(launches), o.note, command);
  std::printf("baseline %s: %zu launches in %d sessions, %lld cells\n%s\n", saved.header.id.c_str(),
              saved.launches.size(), sessions_of(saved.launches), static_cast<long long>(saved.header.cells),
              saved.path.c_str());
  if (saved.launches.size() < 5) {
    std::printf(
        "note: %zu launches make a weak baseline; measure the plan at least 5 times, and on 5 days, with "
        "`baseline save --add`\n",
        saved.launches.size());
  }
  return kGood;
}

int list(const BaselineOptions& o) {
  std::vector<DamagedBaseline> damaged;
  const std::vector<Baseline> all = BaselineStore(o.store).all(damaged);
  using harness::Align;
  harness::Table table({{"id", Align::kLeft},
                        {"saved", Align::kLeft},
                        {"launches"},
                        {"sessions"},
                        {"cells"},
                        {"machine", Align::kLeft},
                        {"plan", Align::kLeft},
                        {"measured revision", Align::kLeft},
                        {"note", Align::kLeft}});
  for (const Baseline& b : all) {
    table.add_row({b.header.id, b.header.saved, std::to_string(b.header.launches),
                   std::to_string(sessions_of(b.launches)), std::to_string(b.header.cells), b.header.machine,
                   b.header.plan_fingerprint, b.header.measured_revision.substr(0, 12), b.header.note});
  }
  if (all.empty() && damaged.empty()) {
    std::printf("no baselines in %s\n", o.store.c_str());
    return kGood;
  }
  std::printf("%s", table.to_text().c_str());
  for (const DamagedBaseline& d : damaged) std::printf("DAMAGED %s\n", d.reason.c_str());
  return damaged.empty() ? kGood : kFinding;
}

int show(const BaselineOptions& o) {
  const Baseline b = BaselineStore(o.store).find(o.id);
  const BaselineHeader& h = b.header;
  std::string command;
  for (const std::string& word : h.command) command += (command.empty() ? "" : " ") + word;
  std::printf("baseline %s\n", h.id.c_str());
  for (const auto& [name, value] : {std::pair{"file", b.path.string()},
                                    {"saved", h.saved},
                                    {"command", command},
                                    {"saved by", h.version + " (" + h.git_revision + ")"},
                                    {"measured", h.measured_revision},
                                    {"note", h.note},
                                    {"machine", h.machine + " [" + h.machine_fingerprint + "]"},
                                    {"plan", h.plan + " [" + h.plan_fingerprint + "]"},
                                    {"sha256", h.content_sha256 + " (agrees)"}}) {
    std::printf("  %-9s %s\n", name, value.c_str());
  }
  std::printf("launches, %d sessions:\n", sessions_of(b.launches));
  for (const Launch& launch : b.launches) {
    std::printf("  %s  %zu cells  revision %s\n", launch.run.run_id.c_str(), launch.cells.size(),
                launch.run.git_revision.c_str());
  }
  return kGood;
}

int prune(const BaselineOptions& o) {
  std::vector<DamagedBaseline> damaged;
  const auto removed = BaselineStore(o.store).prune(o.keep, damaged);
  for (const auto& file : removed) std::printf("removed %s\n", file.c_str());
  std::printf("%zu removed; the newest %d of each machine and plan are kept\n", removed.size(), o.keep);
  for (const DamagedBaseline& file : damaged)
    std::printf("damaged, not counted and not removed: %s\n", file.reason.c_str());
  return kGood;
}

}  // namespace

void add_baseline(CLI::App& app, CommandContext& context) {
  const auto o = std::make_shared<BaselineOptions>();
  CLI::App* command = app.add_subcommand(
      "baseline", "Accepted records, by machine and plan, that `mirrorscale gate` compares with");
  command->require_subcommand(1);
  command->footer("Exit status: 0 good, 1 a stored baseline is damaged (list), 2 misuse, 3 could not run.");
  const auto with_store = [&](CLI::App* part) {
    part->add_option("--store", o->store, "folder of baselines")->capture_default_str();
    return part;
  };
  CLI::App* saving = with_store(command->add_subcommand(
      "save", "Store launches of one plan: every record file of a sweep is a launch of its own"));
  saving->add_option("records", o->records, "what sweeps wrote (.jsonl)")->required();
  saving->add_option("--note", o->note, "why this is the new baseline");
  saving->add_flag("--add", o->add,
                   "together with the launches of the newest baseline of this machine and plan");
  saving->callback([o, &context] { context.status = save(*o, context.arguments); });
  CLI::App* listing = with_store(command->add_subcommand("list", "All baselines, oldest first"));
  listing->callback([o, &context] { context.status = list(*o); });
  CLI::App* showing = with_store(command->add_subcommand("show", "Where one comes from"));
  showing->add_option("id", o->id, "or how it begins")->required();
  showing->callback([o, &context] { context.status = show(*o); });
  CLI::App* pruning = with_store(command->add_subcommand("prune", "Remove old baselines"));
  pruning->add_option("--keep", o->keep, "newest of each machine and plan that stay")->capture_default_str();
  pruning->callback([o, &context] { context.status = prune(*o); });
}

}  // namespace mirrorscale::scenarios

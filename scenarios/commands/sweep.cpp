#include "harness/sweep/axis.h"
#include "scenarios/commands/command.h"
#include "scenarios/commands/sweep_options.h"
#include "scenarios/sweep/driver.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <string>

namespace mirrorscale::scenarios {

void add_sweep(CLI::App& app, CommandContext& context) {
  struct Options {
    PlanOptions plan;
    std::string records = "runs/sweep.jsonl", gbench_json, csv;
    std::optional<double> budget_s, half_width, slice_ms, most_disturbed;
    std::optional<int> slices;
  };
  const auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "sweep",
      "How does training throughput scale with the number of devices and the batch? Every cell is checked\n"
      "against the single-device result before it is timed.");
  add_plan_options(*command, o->plan);
  command
      ->add_option("--records", o->records,
                   "JSON Lines file to append to; a sweep that was interrupted goes on there")
      ->capture_default_str();
  command->add_option("--gbench-json", o->gbench_json,
                      "also write Google Benchmark's JSON, for its compare.py");
  command->add_option("--csv", o->csv, "also write the table as CSV");
  command->add_option("--budget", o->budget_s, "seconds of measuring a group of cells [10]");
  command->add_option("--half-width", o->half_width,
                      "stop when efficiency is known to ± this fraction [0.01]");
  command->add_option("--slices", o->slices, "most slices a cell [1000]");
  command->add_option("--slice-ms", o->slice_ms, "shortest slice in ms [10]; at least one step");
  command->add_option(
      "--most-disturbed", o->most_disturbed,
      "share of a cell's steps that may be preempted or throttled; with more it has no times [1]");
  command->footer(
      "Axes: " + std::string(harness::kAxisGrammar) +
      "\nExit status: 0 all cells good, 1 a cell failed its checks or could not run (out of memory "
      "too), 2 misuse, 3\ncould not run, or a device failed: finished cells are kept, the same "
      "command goes on.");
  command->callback([o, &context] {
    if (!o->plan.on.precision.empty() && std::isdigit(static_cast<unsigned char>(o->plan.on.precision[0]))) {
      throw std::invalid_argument("[sweep] --precision names the type of a product's factors; when to stop " +
                                  std::string("measuring is --half-width ") + o->plan.on.precision);
    }
    SweepPlan plan = make_plan(o->plan);
    if (o->budget_s) plan.stopping.budget_s = *o->budget_s;
    if (o->half_width) plan.stopping.relative_half_width = *o->half_width;
    if (o->slices) plan.stopping.most_slices = *o->slices;
    if (o->slice_ms) plan.slice_s = *o->slice_ms * 1e-3;
    if (o->most_disturbed) plan.most_disturbed = *o->most_disturbed;
    plan.stopping.fewest_slices = std::min(plan.stopping.fewest_slices, plan.stopping.most_slices);
    harness::validate(plan.stopping);
    if (!(plan.slice_s > 0 && plan.slice_s <= 60)) {
      throw std::invalid_argument("[sweep] a slice of " + std::to_string(plan.slice_s * 1e3) +
                                  " ms; must be above 0 and at most 60000");
    }
    context.status = run_sweep(plan, {o->records, o->gbench_json, o->csv, context.arguments});
  });
}

}  // namespace mirrorscale::scenarios

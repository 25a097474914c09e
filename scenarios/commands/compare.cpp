#include "harness/sweep/axis.h"
#include "scenarios/commands/command.h"
#include "scenarios/commands/sweep_options.h"
#include "scenarios/compare/driver.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

namespace mirrorscale::scenarios {
namespace {

struct Options {
  PlanOptions plan;
  std::string a, b, build_a, build_b, json, markdown, clock = "auto", floor = "0.5%", same_within = "1%",
                                                      alpha = "0.5%", planted_b = "0";
  double slice_ms = 10;
  std::optional<double> budget_s;
  std::optional<int> restarts;
  std::optional<std::uint64_t> order_seed;
};

/// "1%", "1 %" or "0.01".
double fraction_from(const char* option, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  if (error == std::errc() && (unit.empty() || unit == "%" || unit == " %"))
    return unit.empty() ? value : value / 100;
  throw std::invalid_argument(std::string("[compare] ") + option + " is '" + text +
                              "'; expected a fraction such as 0.01, or 1%");
}

/// What both sides share, and one side's own options on top.
SweepPlan side_plan(const Options& o, const char* option, const std::string& own) {
  PlanOptions options = o.plan;
  CLI::App side("options of one side", option);
  add_plan_options(side, options);
  try {
    side.parse(own);
  } catch (const CLI::ParseError& error) {
    throw std::invalid_argument(std::string("[compare] ") + option + " \"" + own + "\": " + error.what() +
                                "; it takes the options of a cell, as in --a \"--reduction replicated\"");
  }
  return make_plan(options);
}

std::string this_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw std::runtime_error("[compare] can't find this program: " + error.message());
  return self.string();
}

int compare(const Options& o, const CommandContext& context) {
  ComparePlan plan;
  plan.binary_a = o.build_a.empty() ? this_program() : program_of_build(o.build_a);
  plan.binary_b = o.build_b.empty() ? this_program() : program_of_build(o.build_b);
  plan.cells = compared_cells(side_plan(o, "--a", o.a), side_plan(o, "--b", o.b));
  plan.rule = {.alpha = fraction_from("--alpha", o.alpha),
               .floor = fraction_from("--floor", o.floor),
               .same_within = fraction_from("--same-within", o.same_within)};
  harness::validate(plan.rule);
  plan.clock = slice_clock_from(o.clock);
  plan.planted_b = fraction_from("--plant-slowdown-b", o.planted_b);
  plan.slice_s = o.slice_ms * 1e-3;
  plan.seed = o.order_seed ? *o.order_seed : std::random_device{}();
  plan.restarts =
      o.restarts.value_or(std::max(kUsualRestarts, fewest_restarts(plan.rule.alpha, plan.cells.size()) + 2));
  const double restarts = static_cast<double>(plan.restarts) * static_cast<double>(plan.cells.size());
  if (o.budget_s) plan.restart_s = *o.budget_s / restarts;
  return run_compare(plan, {o.json, o.markdown, context.arguments});
}

}  // namespace

void add_compare(CLI::App& app, CommandContext& context) {
  const auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "compare",
      "Is B slower than A? Two builds, or two configurations of one, measured now, in lockstep: both\n"
      "processes stand ready and take turns of some milliseconds on the same cores, in random order.");
  command->add_option("--build-a", o->build_a,
                      "build A: a build folder, an installed prefix or the program [this one]");
  command->add_option("--build-b", o->build_b, "build B [this one]");
  command->add_option("--a", o->a,
                      "options of side A alone, in quotes, as in --a \"--reduction replicated\"");
  command->add_option("--b", o->b, "options of side B alone");
  add_plan_options(*command, o->plan);
  command
      ->add_option("--restarts", o->restarts,
                   "fresh pairs of processes for each cell [16, more for many cells]")
      ->check(CLI::Range(2, 1000));
  command->add_option("--budget", o->budget_s, "seconds of slices in all [1 for each restart of each cell]");
  command->add_option("--slice-ms", o->slice_ms, "shortest slice in ms; at least one step")
      ->check(CLI::Range(0.1, 60000.0))
      ->capture_default_str();
  command->add_option("--floor", o->floor, "a smaller change is no finding")->capture_default_str();
  command->add_option("--same-within", o->same_within, "what \"same\" must exclude")->capture_default_str();
  command->add_option("--alpha", o->alpha, "chance of a false \"worse\" over all cells")
      ->capture_default_str();
  command
      ->add_option("--clock", o->clock,
                   "wall, cpu (time of all threads), or auto: wall unless others disturb it much")
      ->capture_default_str();
  command->add_option("--order-seed", o->order_seed, "of the random orders [drawn]");
  command->add_option("--json", o->json, "also write everything, every slice too, as one line of JSON");
  command->add_option("--markdown", o->markdown, "also write the table for a CI job's page");
  command->add_option("--plant-slowdown-b", o->planted_b)->group("");  // for studies of error rates
  command->footer(
      "Axes: " + std::string(harness::kAxisGrammar) +
      "\nVerdicts: worse (significantly, and by the floor at least), better, same (the interval excludes "
      "more\nthan --same-within), ambiguous (none of these: the machine was too noisy, see "
      "\"detectable\").\nExit status: 0 nothing is worse, 1 a cell is worse or failed its check, 2 misuse, "
      "3 could not run.");
  command->callback([o, &context] { context.status = compare(*o, context); });
}

}  // namespace mirrorscale::scenarios

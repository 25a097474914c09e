#include "scenarios/commands/command.h"
#include "scenarios/commands/sweep_options.h"
#include "scenarios/compare/worker.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

struct WorkerCommand {
  PlanOptions plan;
  bool protocol = false, check = false;
  int memory = -1, seat = 0;
  double planted_slowdown = 0;
};

CellSpec only_cell(const PlanOptions& options) {
  const std::vector<CellGroup> groups = groups_of(make_plan(options));
  if (groups.size() != 1 || groups.front().size() != 1)
    throw std::invalid_argument("[compare-worker] a worker runs one cell; the options give several");
  return groups.front().front();
}

int work(const WorkerCommand& o) {
  if (o.protocol) {
    std::printf("%s\n", protocol_line().c_str());
    return 0;
  }
  const CellSpec cell = only_cell(o.plan);
  if (o.check) {
    std::printf("%s\n", check_line(cell).c_str());
    return 0;
  }
  if (o.memory < 0 || o.seat < 0 || o.seat > 1)
    throw std::invalid_argument("[compare-worker] is started by `mirrorscale compare`; run that");
  run_worker({cell, o.memory, o.seat, o.planted_slowdown});
  return 0;
}

}  // namespace

void add_compare_worker(CLI::App& app, CommandContext& context) {
  const auto o = std::make_shared<WorkerCommand>();
  CLI::App* command = app.add_subcommand("compare-worker", "One side of `compare`; started by it");
  command->group("");  // not for people
  add_plan_options(*command, o->plan);
  command->add_flag("--protocol", o->protocol, "say which protocol of compare this build speaks");
  command->add_flag("--check", o->check, "validate the cell and say the result as JSON");
  command->add_option("--memory", o->memory, "descriptor of the shared memory");
  command->add_option("--seat", o->seat, "0: side A, 1: side B");
  command->add_option("--plant-slowdown", o->planted_slowdown, "make each step longer by this fraction")
      ->check(CLI::Range(0.0, 10.0));
  command->callback([o, &context] { context.status = work(*o); });
}

}  // namespace mirrorscale::scenarios

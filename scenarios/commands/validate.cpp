#include "harness/output/table.h"
#include "kernels/device_error.h"
#include "scenarios/commands/command.h"
#include "scenarios/commands/sweep_options.h"
#include "scenarios/exit_status.h"
#include "scenarios/sweep/failure.h"
#include "scenarios/validation/invariants.h"
#include "scenarios/workloads/data_source.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace mirrorscale::scenarios {
namespace {

/// Every scale error shows with plain gradient descent; Adam hides a constant factor in its first steps. So
/// each cell is also checked with SGD at a rate that moves the weights well.
constexpr const char* kScaleOptimizer = "sgd:0.1";

struct Row {
  std::string cell;
  harness::Verdict verdict;
};

std::vector<CellGroup> with_scale_cells(std::vector<CellGroup> groups) {
  const std::size_t count = groups.size();
  for (std::size_t g = 0; g < count; ++g) {
    if (groups[g].front().optimizer.rfind("sgd", 0) == 0) continue;
    CellGroup extra = groups[g];
    for (CellSpec& cell : extra) cell.optimizer = kScaleOptimizer;
    groups.push_back(std::move(extra));
  }
  return groups;
}

CellVerdicts verdicts_of(const CellSpec& cell, Yardsticks& yardsticks) {
  try {
    return validate_cell(cell, yardsticks);
  } catch (const kernels::OutOfMemory&) {
    throw std::runtime_error("[validate] " + failure_of(cell, *yardsticks.data().train).text);
  }
}

int validate(const SweepPlan& plan, bool verbose) {
  const std::vector<CellGroup> groups = with_scale_cells(groups_of(plan));
  std::vector<harness::Column> columns{{"workload", harness::Align::kLeft},
                                       {"optimizer", harness::Align::kLeft},
                                       {"global batch"},
                                       {"devices"}};
  for (const char* code : {"SHD", "COV", "MIR", "ONE", "REF", "MET", "SHP"}) columns.push_back({code});
  const CellSpec& any = groups.front().front();
  if (any.backend == "cuda" && any.exact()) columns.push_back({"XBK"});
  columns.push_back({"weight hash", harness::Align::kLeft});
  harness::Table table(columns);
  std::vector<Row> told;
  bool failed = false, unjudged = false;
  for (const CellGroup& group : groups) {
    Yardsticks yardsticks(load_data(group.front().data, group.front().seed));
    for (const CellSpec& cell : group) {
      const CellVerdicts result = verdicts_of(cell, yardsticks);
      std::vector<std::string> row{cell.workload, cell.optimizer, std::to_string(cell.global_batch),
                                   std::to_string(cell.devices)};
      for (const auto& verdict : result.verdicts) {
        row.emplace_back(harness::to_table_mark(verdict.outcome));
        const bool bad = verdict.outcome == harness::Outcome::kFailed;
        failed = failed || bad;
        unjudged = unjudged || (verdict.invariant == "REF" && verdict.outcome == harness::Outcome::kSkipped);
        if (bad || verbose) told.push_back({cell.key(), verdict});
      }
      row.push_back(result.weight_hash);
      table.add_row(std::move(row));
    }
  }
  std::printf("%s", table.to_text().c_str());
  for (const Row& row : told) {
    std::printf("%s %s %s: %s\n", std::string(harness::to_word(row.verdict.outcome)).c_str(),
                row.verdict.invariant.c_str(), row.cell.c_str(), row.verdict.evidence.c_str());
  }
  std::printf("%s\n",
              failed ? "FAILED: training on these devices is not training on one"
              : unjudged
                  ? "all invariants that were judged hold; REF was skipped where the oracle has no such model"
                  : "all invariants hold");
  return failed ? kFinding : kGood;
}

}  // namespace

void add_validate(CLI::App& app, CommandContext& context) {
  struct Options {
    PlanOptions plan;
    bool verbose = false;
  };
  const auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "validate",
      "Is the result of training on N devices the result of training on one? A few steps of every cell,\n"
      "checked against one device bit by bit and against an independent trainer in double.");
  add_plan_options(*command, o->plan);
  command->add_flag("--verbose", o->verbose, "the evidence of every verdict, not only of failures");
  command->footer(
      "SHD shards cover the batch   COV every row once   MIR replicas hold the same bits after every step\n"
      "ONE the bits of one device   REF within the rounding bound of an fp64 oracle   MET metrics from "
      "counts\n"
      "SHP predictions: rows, order   XBK (cuda, exact) the bits of the cpu backend\n"
      "In fast numerics ONE, REF and SHP hold to the oracle's bound, of the precision chosen.\nExit status: "
      "0 all hold, 1 one failed, 2 misuse, 3 could not run.");
  command->callback([o, &context] { context.status = validate(make_plan(o->plan), o->verbose); });
}

}  // namespace mirrorscale::scenarios

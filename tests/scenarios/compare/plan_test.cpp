#include "scenarios/compare/plan.h"

#include "scenarios/commands/sweep_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

SweepPlan plan_with(const std::string& reduction, std::vector<std::int64_t> devices = {1, 2}) {
  SweepPlan plan;
  plan.workloads = {"mlp-small"};
  plan.devices = std::move(devices);
  plan.global_batches = {64};
  plan.reduction = reduction;
  return plan;
}

TEST(ComparedCells, ANameSaysWhatTheSidesShareAndWhereTheyDiffer) {
  const auto cells = compared_cells(plan_with("replicated"), plan_with("fused"));
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[1].name, "mlp-small devices=2 global-batch=64 reduction=replicated->fused");
  EXPECT_EQ(cells[1].a.reduction, "replicated");
  EXPECT_EQ(cells[1].b.reduction, "fused");
  EXPECT_EQ(compared_cells(plan_with("fused"), plan_with("fused"))[0].name,
            "mlp-small devices=1 global-batch=64");
  EXPECT_EQ(compared_cells(plan_with("fused", {1}), plan_with("fused", {2}))[0].name,
            "mlp-small devices=1->2 global-batch=64");
}

TEST(ComparedCells, AxesOfDifferentLengthsAreRefused) {
  EXPECT_THROW(compared_cells(plan_with("fused", {1}), plan_with("fused")), std::invalid_argument);
}

// 2^-7 = 0.0078, 2^-8 = 0.0039; three cells: 0.005 / 3 = 0.00167, 2^-10 = 0.00098.
TEST(FewestRestarts, IsWhatTheTestNeedsToReachAlpha) {
  EXPECT_EQ(fewest_restarts(0.005, 1), 8);
  EXPECT_EQ(fewest_restarts(0.005, 3), 10);
  EXPECT_EQ(fewest_restarts(0.25, 1), 2);
}

// What the worker's command line gives is the cell that the parent meant.
TEST(Arguments, GiveTheSameCell) {
  CellSpec cell = compared_cells(plan_with("replicated"), plan_with("replicated"))[1].a;
  cell.seed = 5;
  cell.wait_limit_s = 7;
  PlanOptions options;
  CLI::App app;
  add_plan_options(app, options);
  std::vector<std::string> arguments = arguments_of(cell);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  app.parse(arguments);
  const auto groups = groups_of(make_plan(options));
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].size(), 1u);
  EXPECT_EQ(groups[0][0].key(), cell.key());
  EXPECT_EQ(groups[0][0].wait_limit_s, 7);
}

// What is a flag is named where it is on; a build that doesn't know it is asked for it only then.
TEST(Arguments, NameAFlagWhereItIsOn) {
  CellSpec cell;
  const auto count = [](const CellSpec& of, const char* option) {
    const std::vector<std::string> arguments = arguments_of(of);
    return std::count(arguments.begin(), arguments.end(), option);
  };
  EXPECT_EQ(count(cell, "--graphs"), 0);
  cell.graphs = true;
  EXPECT_EQ(count(cell, "--graphs"), 1);
  EXPECT_EQ(count(cell, "--registered-buffers"), 0);
  EXPECT_EQ(count(cell, "on"), 0);
}

TEST(ProgramOfBuild, WhatIsNoBuildIsRefused) {
  EXPECT_THROW(program_of_build("/no/such/folder"), std::invalid_argument);
  EXPECT_THROW(program_of_build("/etc"), std::invalid_argument);
  EXPECT_EQ(program_of_build("/bin/sh"), "/bin/sh");
}

TEST(SliceClock, AnUnknownOneIsRefused) {
  EXPECT_EQ(slice_clock_from("cpu"), SliceClock::kCpu);
  EXPECT_THROW(slice_clock_from("sundial"), std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::scenarios

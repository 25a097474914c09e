#include "scenarios/sweep/plan.h"

#include "scenarios/sweep/table.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace mirrorscale::scenarios {
namespace {

SweepPlan small_plan() {
  SweepPlan plan;
  plan.workloads = {"mlp-small"};
  plan.devices = {4, 1, 2};
  return plan;
}

TEST(Plan, StrongGroupsHoldTheGlobalBatchAndBeginWithTheFewestDevices) {
  SweepPlan plan = small_plan();
  plan.global_batches = {64, 100};
  const auto groups = groups_of(plan);
  ASSERT_EQ(groups.size(), 2U);
  ASSERT_EQ(groups[1].size(), 3U);
  EXPECT_EQ(groups[1][0].devices, 1);
  EXPECT_EQ(groups[1][2].devices, 4);
  for (const CellSpec& cell : groups[1]) EXPECT_EQ(cell.global_batch, 100);
  EXPECT_EQ(groups[1][2].local_batch(), 25);
  EXPECT_NE(groups[0][0].key(), groups[1][0].key());
  EXPECT_EQ(groups[1][0].group(), groups[1][2].group());
}

TEST(Plan, WeakGroupsHoldTheLocalBatch) {
  SweepPlan plan = small_plan();
  plan.local_batches = {32};
  const auto groups = groups_of(plan);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0][2].global_batch, 128);
  EXPECT_EQ(groups[0][2].local_batch(), 32);
  EXPECT_EQ(groups[0][0].group(), groups[0][2].group());
}

TEST(Plan, StrongAndWeakCellsOfEqualShapeAreDifferentCells) {
  SweepPlan plan = small_plan();
  plan.devices = {1};
  plan.global_batches = {32};
  plan.local_batches = {32};
  const auto groups = groups_of(plan);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_NE(groups[0][0].key(), groups[1][0].key());
}

TEST(Plan, RefusesWhatItDoesNotKnow) {
  SweepPlan plan = small_plan();
  EXPECT_THROW(groups_of(plan), std::invalid_argument);  // no batch axis
  plan.global_batches = {64};
  plan.workloads = {"no-such"};
  EXPECT_THROW(groups_of(plan), std::invalid_argument);
  plan = small_plan();
  plan.global_batches = {64};
  plan.optimizers = {"adamant"};
  EXPECT_THROW(groups_of(plan), std::invalid_argument);
  plan.optimizers = {};
  plan.backend = "tpu";
  EXPECT_THROW(groups_of(plan), std::invalid_argument);
}

TEST(Plan, RefusesSettingsThatContradictEachOtherAndDevicesThatAreNotThere) {
  SweepPlan plan = small_plan();
  plan.global_batches = {64};
  plan.numerics = "fast";
  EXPECT_THROW(groups_of(plan), std::invalid_argument);
  plan.backend = "cuda";
  plan.devices = {1, 1'000'000};
  EXPECT_THROW(groups_of(plan), std::runtime_error);
}

// A file that an earlier build began goes on: the plan in it is what it was.
TEST(Plan, OfTheHostIsRecordedAsItWas) {
  SweepPlan plan = small_plan();
  plan.global_batches = {64};
  std::string names;
  for (const auto& [name, value] : to_record(plan).settings) names += name + " ";
  EXPECT_EQ(names, "data backend reduction budget_s relative_half_width fewest_slices most_slices slice_s ");
  EXPECT_EQ(std::get<std::string>(to_record(plan).settings[2].second), "fused");
  plan.backend = "cuda";
  plan.precision = "tf32";
  const auto settings = to_record(plan).settings;
  ASSERT_EQ(settings.size(), 11U);
  EXPECT_EQ(std::get<std::string>(settings[2].second), "bucketed");
  EXPECT_EQ(std::get<std::string>(settings[8].second), "fast");
  EXPECT_EQ(std::get<std::string>(settings[9].second), "tf32");
}

class PlanFile : public testing::Test {
 protected:
  void SetUp() override {
    path_ =
        std::filesystem::temp_directory_path() / ("mirrorscale_plan_" + std::to_string(getpid()) + ".toml");
  }
  void TearDown() override { std::filesystem::remove(path_); }
  SweepPlan read(const std::string& text) {
    std::ofstream(path_) << text;
    SweepPlan plan;
    read_plan_file(path_, plan);
    return plan;
  }
  std::string error_of(const std::string& text) {
    try {
      read(text);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  }
  std::filesystem::path path_;
};

TEST_F(PlanFile, SetsAxesAndSettings) {
  const SweepPlan plan = read(
      "[axes]\ndevices = [1, 2, 4]\nglobal_batch = \"[256:1024:*2]\"\nworkload = \"mlp\"\noptimizer = "
      "[\"adam\", \"sgd:0.1\"]\n"
      "[settings]\nbudget_s = 3.5\nslices = 40\nreduction = \"replicated\"\n");
  EXPECT_EQ(plan.devices, (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_EQ(plan.global_batches, (std::vector<std::int64_t>{256, 512, 1024}));
  EXPECT_EQ(plan.optimizers, (std::vector<std::string>{"adam", "sgd:0.1"}));
  EXPECT_EQ(plan.stopping.budget_s, 3.5);
  EXPECT_EQ(plan.stopping.most_slices, 40);
  EXPECT_EQ(plan.reduction, "replicated");
}

TEST_F(PlanFile, SetsTheDevicesSettings) {
  const SweepPlan plan = read(
      "[settings]\nbackend = \"cuda\"\nnumerics = \"fast\"\nprecision = \"bfloat16\"\nhalf_width = 0.02\n"
      "cross_device_ops = \"nccl\"\nwait_limit_s = 5\ngraphs = true\nregistered_buffers = true\n");
  EXPECT_EQ(plan.backend, "cuda");
  EXPECT_EQ(plan.numerics, "fast");
  EXPECT_EQ(plan.precision, "bfloat16");
  EXPECT_EQ(plan.cross_device_ops, "nccl");
  EXPECT_TRUE(plan.graphs && plan.registered_buffers);
  EXPECT_EQ(plan.wait_limit_s, 5);
  EXPECT_EQ(plan.stopping.relative_half_width, 0.02);
  EXPECT_EQ(read("[settings]\nprecision = 0.03\n").stopping.relative_half_width, 0.03);
}

TEST_F(PlanFile, NamesLineAndKeyOfWhatIsWrong) {
  EXPECT_NE(error_of("[axes]\ndevices = 1\ngadgets = 2\n").find(":3: 'gadgets'"), std::string::npos);
  EXPECT_NE(error_of("[axes]\ndevices = 1.5\n").find(":2: 'devices'"), std::string::npos);
  EXPECT_NE(error_of("[settings]\nbudget_s = \"long\"\n").find("'budget_s' needs a number"),
            std::string::npos);
  EXPECT_NE(error_of("[gate]\n").find("'gate'"), std::string::npos);
  EXPECT_NE(error_of("[axes\n").find(".toml:"), std::string::npos);
  EXPECT_THROW(
      {
        SweepPlan plan;
        read_plan_file("/no/such/plan.toml", plan);
      },
      std::runtime_error);
}

TEST(Table, MarksOversubscribedAndFailedCells) {
  harness::CellRecord good, bad;
  good.replicas = 4;
  good.oversubscribed = true;
  good.status = harness::CellStatus::kOk;
  bad.replicas = 2;
  bad.status = harness::CellStatus::kFailed;
  bad.checks = {harness::failed("ONE", "w[0]"), harness::passed("COV", ""), harness::failed("REF", "w[0]")};
  EXPECT_EQ(check_mark(good), "ok");
  EXPECT_EQ(check_mark(bad), "FAIL ONE,REF");
  const std::vector<harness::CellRecord> cells{good, bad};
  const std::string text = cell_table(cells).to_text();
  EXPECT_NE(text.find("4*"), std::string::npos);
  EXPECT_NE(text.find("FAIL ONE,REF"), std::string::npos);
}

TEST(Table, SaysEmulatedInsteadOfTimes) {
  harness::CellRecord cell;
  cell.replicas = 2;
  cell.status = harness::CellStatus::kOk;
  cell.measurement.emplace().step_p50_s = 0.123;
  cell.measurement->samples_per_s = {4567, 4567, 4567};
  EXPECT_NE(cell_table(std::vector{cell}).to_text().find("4567"), std::string::npos);
  cell.emulated = true;
  const std::string text = cell_table(std::vector{cell}).to_text();
  EXPECT_NE(text.find("emulated"), std::string::npos) << text;
  EXPECT_EQ(text.find("4567"), std::string::npos) << text;
  EXPECT_EQ(text.find("123"), std::string::npos) << text;
}

TEST(Table, NamesTheTrouble) {
  harness::CellRecord cell;
  cell.status = harness::CellStatus::kSkipped;
  cell.reason_kind = harness::ReasonKind::kOutOfMemory;
  EXPECT_EQ(check_mark(cell), "SKIPPED");
  cell.status = harness::CellStatus::kError;
  EXPECT_EQ(check_mark(cell), "OUT OF MEMORY");
  cell.reason_kind = harness::ReasonKind::kDeviceFailed;
  EXPECT_EQ(check_mark(cell), "DEVICE FAILED");
  cell.reason_kind = harness::ReasonKind::kOther;
  EXPECT_EQ(check_mark(cell), "ERROR");
}

}  // namespace
}  // namespace mirrorscale::scenarios

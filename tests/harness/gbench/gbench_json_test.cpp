#include "harness/gbench/gbench_json.h"

#include "harness/output/file.h"
#include "tests/harness/support/sample_records.h"
#include "tests/harness/support/temporary_folder.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace mirrorscale::harness {
namespace {

/// Ten slices of 4 steps of 64 samples; a step takes `step_s`, every other one 1 % more.
CellTiming cell(const std::string& name, double step_s) {
  CellTiming timing{.name = name, .steps_per_slice = 4, .samples_per_step = 64};
  for (int round = 0; round < 10; ++round) {
    timing.slices.push_back({.round = round,
                             .start_s = round * 1.0,
                             .seconds = 4 * step_s * (1 + 0.01 * (round % 2)),
                             .cpu_s = 8 * step_s});
  }
  return timing;
}

CellTiming broken(const std::string& name) {
  return {
      .name = name, .steps_per_slice = 4, .samples_per_step = 64, .slices = {}, .error = "replica 1 failed"};
}

nlohmann::json parse(const std::vector<CellTiming>& cells) {
  return nlohmann::json::parse(
      to_gbench_json(cells, sample_run().environment, "mirrorscale", {{"numerics", "exact"}}));
}

TEST(GbenchJson, SlicesAndAggregates) {
  const auto json = parse({cell("mlp/n=1", 0.002)});
  EXPECT_EQ(json["context"]["executable"], "mirrorscale");
  EXPECT_EQ(json["context"]["numerics"], "exact");
  EXPECT_TRUE(std::regex_match(json["context"]["date"].get<std::string>(),
                               std::regex("[0-9-]{10}T[0-9:]{8}[+-][0-9]{2}:[0-9]{2}")));
  const auto& entries = json["benchmarks"];
  ASSERT_EQ(entries.size(), 14u);
  const auto& second = entries[1];
  EXPECT_EQ(second["name"], "mlp/n=1");
  EXPECT_EQ(second["run_type"], "iteration");
  EXPECT_EQ(second["repetitions"], 10);
  EXPECT_EQ(second["repetition_index"], 1);
  EXPECT_EQ(second["iterations"], 4);
  EXPECT_EQ(second["time_unit"], "ns");
  EXPECT_NEAR(second["real_time"].get<double>(), 2.02e6, 1e-3);
  EXPECT_NEAR(second["cpu_time"].get<double>(), 4e6, 1e-3);
  EXPECT_NEAR(second["items_per_second"].get<double>(), 64 / 0.00202, 1e-6);
  const auto aggregate = [&](std::size_t at, const char* name) {
    EXPECT_EQ(entries[at]["aggregate_name"], name);
    EXPECT_EQ(entries[at]["run_type"], "aggregate");
    EXPECT_EQ(entries[at]["name"], std::string("mlp/n=1_") + name);
    EXPECT_EQ(entries[at]["run_name"], "mlp/n=1");
    return entries[at]["real_time"].get<double>();
  };
  EXPECT_NEAR(aggregate(10, "mean"), 2.01e6, 1e-3);
  EXPECT_NEAR(aggregate(11, "median"), 2.01e6, 1e-3);
  EXPECT_NEAR(aggregate(12, "stddev"), 0.01e6 * std::sqrt(10.0 / 9), 1e-3);
  EXPECT_NEAR(aggregate(13, "cv"), 0.01 * std::sqrt(10.0 / 9) / 2.01, 1e-9);
}

TEST(GbenchJson, AFailedCellSaysSo) {
  const auto json = parse({broken("mlp/n=2")});
  ASSERT_EQ(json["benchmarks"].size(), 1u);
  EXPECT_EQ(json["benchmarks"][0]["error_occurred"], true);
  EXPECT_EQ(json["benchmarks"][0]["error_message"], "replica 1 failed");
}

/// Standard output and error of a command, and its exit status.
std::pair<std::string, int> run(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  return {text, WEXITSTATUS(pclose(pipe))};
}

// The real compare.py of Google Benchmark (Debian: libbenchmark-tools, python3-scipy) finds a planted 10 %.
TEST(GbenchJson, GoogleBenchmarksOwnCompareReadsIt) {
  const std::string compare = "/usr/share/benchmark/compare.py";
  if (!std::filesystem::exists(compare))
    GTEST_SKIP() << compare << " is absent (Debian package libbenchmark-tools)";
  if (run("/usr/bin/python3 -c 'import scipy'").second != 0)
    GTEST_SKIP() << "python3-scipy is absent, compare.py needs it";
  const TemporaryFolder folder;
  const Environment environment = sample_run().environment;
  write_gbench_json(folder / "old.json",
                    std::vector{cell("mlp/n=1", 0.002), cell("mlp/n=2", 0.001), broken("mlp/n=4")},
                    environment, "mirrorscale");
  write_gbench_json(folder / "new.json",
                    std::vector{cell("mlp/n=1", 0.002), cell("mlp/n=2", 0.0011), broken("mlp/n=4")},
                    environment, "mirrorscale");
  const auto [text, status] = run("/usr/bin/python3 " + compare + " --no-color benchmarks " +
                                  (folder / "old.json").string() + " " + (folder / "new.json").string());
  EXPECT_EQ(status, 0) << text;
  // name, change of real time, change of CPU time, old and new real time
  EXPECT_TRUE(
      std::regex_search(text, std::regex("mlp/n=2_median +[+]0[.]1000 +[+]0[.]1000 +1[0-9]{6} +1[0-9]{6}")))
      << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("mlp/n=1_mean +[+]0[.]0000"))) << text;
  EXPECT_TRUE(
      std::regex_search(text, std::regex("mlp/n=2_pvalue +0[.]000[0-9] .*U Test, Repetitions: 10 vs 10")))
      << text;
}

}  // namespace
}  // namespace mirrorscale::harness

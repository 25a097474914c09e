#include "harness/gbench/gbench_json.h"

#include "harness/measure/summary.h"
#include "harness/output/file.h"

#include <array>
#include <benchmark/benchmark.h>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace mirrorscale::harness {
namespace {

using Json = nlohmann::ordered_json;

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S%z", &parts);
  const std::string_view time = text.data();
  // +0100 to +01:00, as Google Benchmark has it.
  return fmt::format("{}:{}", time.substr(0, time.size() - 2), time.substr(time.size() - 2));
}

Json context(const Environment& environment, const std::string& command,
             const std::map<std::string, std::string>& custom) {
  const benchmark::CPUInfo& cpu = benchmark::CPUInfo::Get();
  Json caches = Json::array();
  for (const auto& cache : cpu.caches) {
    caches.push_back({{"type", cache.type},
                      {"level", cache.level},
                      {"size", cache.size},
                      {"num_sharing", cache.num_sharing}});
  }
  Json json{{"date", local_time()},
            {"host_name", environment.host},
            {"executable", command},
            {"num_cpus", cpu.num_cpus},
            {"mhz_per_cpu", std::llround(cpu.cycles_per_second / 1e6)}};
  if (cpu.scaling != benchmark::CPUInfo::UNKNOWN)
    json["cpu_scaling_enabled"] = cpu.scaling == benchmark::CPUInfo::ENABLED;
  json["caches"] = std::move(caches);
  json["load_avg"] = cpu.load_avg;
  json["library_build_type"] = environment.build_type == "Debug" ? "debug" : "release";
  json["json_schema_version"] = 1;
  for (const auto& [name, value] : custom) json[name] = value;
  return json;
}

/// Times per step and throughput of one cell's slices.
struct PerStep {
  std::vector<double> real_ns, cpu_ns, items_per_second;
};

PerStep per_step(const CellTiming& cell) {
  PerStep values{.real_ns = {}, .cpu_ns = {}, .items_per_second = cell.samples_per_s()};
  for (const Slice& slice : cell.slices) {
    values.real_ns.push_back(slice.seconds * 1e9 / cell.steps_per_slice);
    values.cpu_ns.push_back(slice.cpu_s * 1e9 / cell.steps_per_slice);
  }
  return values;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double middle(const std::vector<double>& values) {
  return *median(values);
}

/// With n - 1; 0 for a single value, as Google Benchmark has it.
double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double variation(const std::vector<double>& values) {
  const double centre = mean(values);
  return centre == 0 ? 0 : standard_deviation(values) / centre;
}

struct Aggregate {
  const char* name;
  const char* unit;
  double (*of)(const std::vector<double>&);
};
constexpr std::array<Aggregate, 4> kAggregates{{{"mean", "time", mean},
                                                {"median", "time", middle},
                                                {"stddev", "time", standard_deviation},
                                                {"cv", "percentage", variation}}};

Json entry(const CellTiming& cell, std::size_t family, const std::string& name, const char* run_type) {
  return Json{{"name", name},          {"family_index", family}, {"per_family_instance_index", 0},
              {"run_name", cell.name}, {"run_type", run_type},   {"repetitions", cell.slices.size()}};
}

void add_times(Json& json, double real_ns, double cpu_ns, double items_per_second) {
  json["real_time"] = real_ns;
  json["cpu_time"] = cpu_ns;
  json["time_unit"] = "ns";  // its default, and compare.py prints whole numbers
  json["items_per_second"] = items_per_second;
}

void add_cell(Json& list, const CellTiming& cell, std::size_t family) {
  const PerStep values = per_step(cell);
  for (std::size_t i = 0; i < cell.slices.size(); ++i) {
    Json json = entry(cell, family, cell.name, "iteration");
    json["repetition_index"] = i;
    json["threads"] = 1;
    json["iterations"] = cell.steps_per_slice;
    add_times(json, values.real_ns[i], values.cpu_ns[i], values.items_per_second[i]);
    list.push_back(std::move(json));
  }
  if (!cell.error.empty() || cell.slices.empty()) {
    Json json = entry(cell, family, cell.name, "iteration");
    json["repetition_index"] = cell.slices.size();
    json["threads"] = 1;
    json["error_occurred"] = true;
    json["error_message"] = cell.error.empty() ? "not measured" : cell.error;
    json["iterations"] = 0;
    add_times(json, 0, 0, 0);
    list.push_back(std::move(json));
    return;
  }
  for (const Aggregate& aggregate : kAggregates) {
    Json json = entry(cell, family, cell.name + "_" + aggregate.name, "aggregate");
    json["threads"] = 1;
    json["aggregate_name"] = aggregate.name;
    json["aggregate_unit"] = aggregate.unit;
    json["iterations"] = cell.slices.size();
    add_times(json, aggregate.of(values.real_ns), aggregate.of(values.cpu_ns),
              aggregate.of(values.items_per_second));
    list.push_back(std::move(json));
  }
}

}  // namespace

std::string to_gbench_json(std::span<const CellTiming> cells, const Environment& environment,
                           const std::string& command, const std::map<std::string, std::string>& custom) {
  Json list = Json::array();
  for (std::size_t family = 0; family < cells.size(); ++family) add_cell(list, cells[family], family);
  const Json json{{"context", context(environment, command, custom)}, {"benchmarks", std::move(list)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_gbench_json(const std::filesystem::path& path, std::span<const CellTiming> cells,
                       const Environment& environment, const std::string& command,
                       const std::map<std::string, std::string>& custom) {
  write_file_atomically(path, to_gbench_json(cells, environment, command, custom));
}

}  // namespace mirrorscale::harness

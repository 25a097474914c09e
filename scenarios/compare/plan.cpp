#include "scenarios/compare/plan.h"

#include "harness/measure/signed_rank.h"

#include <filesystem>
#include <set>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace mirrorscale::scenarios {
namespace {

namespace fs = std::filesystem;

constexpr const char *kOn = "on", *kOff = "off";  // of what is a flag on the command line

using Named = std::vector<std::pair<std::string, std::string>>;

/// Everything that names a cell, by the worker's options; wait_limit_s is none of it.
Named settings_of(const CellSpec& cell) {
  return {{"workload", cell.workload},
          {"devices", std::to_string(cell.devices)},
          {"global-batch", std::to_string(cell.global_batch)},
          {"data", cell.data},
          {"optimizer", cell.optimizer},
          {"seed", std::to_string(cell.seed)},
          {"backend", cell.backend},
          {"numerics", cell.numerics},
          {"precision", cell.precision},
          {"reduction", cell.reduction},
          {"cross-device-ops", cell.cross_device_ops},
          {"graphs", cell.graphs ? kOn : kOff},
          {"registered-buffers", cell.registered_buffers ? kOn : kOff}};
}

std::vector<CellSpec> flat(const SweepPlan& plan) {
  std::vector<CellSpec> cells;
  for (const CellGroup& group : groups_of(plan)) cells.insert(cells.end(), group.begin(), group.end());
  return cells;
}

/// Workload, devices and batch; whatever else is not the same in all cells; and both values where sides
/// differ.
std::string name_of(const ComparedCell& cell, const std::vector<std::set<std::string>>& values) {
  const Named a = settings_of(cell.a), b = settings_of(cell.b);
  std::string name = a[0].second == b[0].second ? a[0].second : a[0].second + "->" + b[0].second;
  for (std::size_t i = 1; i < a.size(); ++i) {
    if (a[i].second != b[i].second)
      name += " " + a[i].first + "=" + a[i].second + "->" + b[i].second;
    else if (i <= 2 || values[i].size() > 1)
      name += " " + a[i].first + "=" + a[i].second;
  }
  return name;
}

}  // namespace

SliceClock slice_clock_from(const std::string& name) {
  if (name == "auto") return SliceClock::kAuto;
  if (name == "wall") return SliceClock::kWall;
  if (name == "cpu") return SliceClock::kCpu;
  throw std::invalid_argument("[compare] no clock '" + name + "'; there are: auto, wall, cpu");
}

bool ComparePlan::same_sides() const {
  for (const ComparedCell& cell : cells) {
    if (settings_of(cell.a) != settings_of(cell.b)) return false;
  }
  return binary_a == binary_b && planted_b == 0;
}

std::vector<ComparedCell> compared_cells(const SweepPlan& a, const SweepPlan& b) {
  const std::vector<CellSpec> left = flat(a), right = flat(b);
  if (left.size() != right.size()) {
    throw std::invalid_argument("[compare] side A has " + std::to_string(left.size()) + " cells and side B " +
                                std::to_string(right.size()) +
                                "; they are compared place by place, so give both axes of the same length");
  }
  std::vector<ComparedCell> cells;
  std::vector<std::set<std::string>> values(settings_of(left.front()).size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    cells.push_back({"", left[i], right[i]});
    const Named settings = settings_of(left[i]);
    for (std::size_t k = 0; k < settings.size(); ++k) values[k].insert(settings[k].second);
  }
  for (ComparedCell& cell : cells) cell.name = name_of(cell, values);
  return cells;
}

int fewest_restarts(double alpha, std::size_t cells) {
  std::size_t n = 2;
  while (harness::least_signed_rank_p(n) > alpha / static_cast<double>(cells)) ++n;
  return static_cast<int>(n);
}

std::string program_of_build(const std::string& folder_or_program) {
  const fs::path given(folder_or_program);
  std::string tried;
  for (const fs::path& path :
       {given, given / "scenarios/mirrorscale", given / "bin/mirrorscale", given / "mirrorscale"}) {
    std::error_code none;
    if (fs::is_regular_file(path, none) && access(path.c_str(), X_OK) == 0)
      return fs::absolute(path).lexically_normal().string();
    tried += (tried.empty() ? "" : ", ") + path.string();
  }
  throw std::invalid_argument("[compare] no build at '" + folder_or_program +
                              "'; none of these is a program: " + tried +
                              ". Name a build folder, an installed prefix, or the program itself");
}

std::vector<std::string> arguments_of(const CellSpec& cell) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : settings_of(cell)) {
    if (value == kOff) continue;
    arguments.push_back("--" + name);
    if (value != kOn) arguments.push_back(value);
  }
  arguments.insert(arguments.end(), {"--wait-limit", std::to_string(cell.wait_limit_s)});
  return arguments;
}

}  // namespace mirrorscale::scenarios

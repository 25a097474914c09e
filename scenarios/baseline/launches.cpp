#include "scenarios/baseline/launches.h"

#include "harness/judge/sessions.h"
#include "harness/record/environment.h"
#include "harness/record/json.h"
#include "harness/record/plausible.h"
#include "harness/record/record_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <stdexcept>
#include <utility>

namespace mirrorscale::scenarios {
namespace {

void require_plausible(const Launch& launch, const std::string& file) {
  if (const std::string why = harness::implausible(launch.run, harness::utc_now()); !why.empty()) {
    throw std::runtime_error(fmt::format("{}: run {} {}", file, launch.run.run_id, why));
  }
  for (const harness::CellRecord& cell : launch.cells) {
    const std::string why = harness::implausible(cell);
    if (!why.empty()) {
      throw std::runtime_error(
          fmt::format("{}: cell {}: {}; leave this file out and measure again", file, cell.cell_key, why));
    }
  }
}

}  // namespace

std::string machine_words(const harness::RunRecord& run) {
  const harness::Environment& e = run.environment;
  return fmt::format("{}, {} cores, {}", e.cpu_model.empty() ? e.host : e.cpu_model, e.cores, e.target);
}

void require_alike(const std::vector<Launch>& launches, const std::string& what) {
  if (launches.empty()) {
    throw std::invalid_argument(what +
                                " no launch with a cell in it; give record files of mirrorscale sweep");
  }
  const harness::RunRecord& first = launches.front().run;
  std::set<std::string> seen;
  for (const Launch& launch : launches) {
    const harness::RunRecord& run = launch.run;
    if (!seen.insert(run.run_id).second) {
      throw std::invalid_argument(
          fmt::format("{} launch {} is there twice; it would count as two, give each record file once", what,
                      run.run_id));
    }
    if (run.plan_fingerprint != first.plan_fingerprint) {
      throw std::invalid_argument(fmt::format("{} two plans: {} in {}, {} in {}; give launches of one plan",
                                              what, harness::canonical_text(first.plan), first.run_id,
                                              harness::canonical_text(run.plan), run.run_id));
    }
    if (run.machine_fingerprint != first.machine_fingerprint) {
      throw std::invalid_argument(
          fmt::format("{} two machines: {} in {}, {} in {}; give launches of one kind", what,
                      machine_words(first), first.run_id, machine_words(run), run.run_id));
    }
  }
}

LaunchFiles read_launches(std::span<const std::filesystem::path> files, TornLine torn) {
  LaunchFiles result;
  std::vector<std::set<std::string>> cells_of;  // by file
  for (const std::filesystem::path& file : files) {
    harness::RecordSet set = harness::read_records(file);
    if (set.torn_bytes > 0) {
      const std::string what =
          fmt::format("{}: the last line is cut short ({} bytes)", file.string(), set.torn_bytes);
      if (torn == TornLine::kRefuse) {
        throw std::runtime_error(what + "; finish the sweep first: the same command goes on where it was");
      }
      result.notes.push_back(what + " and was dropped");
    }
    const std::size_t before = result.launches.size();
    for (harness::RunRecord& run : set.runs) {
      Launch launch{std::move(run), {}};
      for (const harness::CellRecord& cell : set.cells) {
        if (cell.run_id == launch.run.run_id) launch.cells.push_back(cell);
      }
      require_plausible(launch, file.string());
      if (!launch.cells.empty()) result.launches.push_back(std::move(launch));
    }
    if (result.launches.size() == before) {
      throw std::invalid_argument(
          file.string() +
          ": no launch with a cell in it: the sweep ended before its first cell; the same "
          "command goes on where it was, or leave the file out");
    }
    std::set<std::string>& cells = cells_of.emplace_back();
    for (std::size_t i = before; i < result.launches.size(); ++i) {
      for (const harness::CellRecord& cell : result.launches[i].cells) cells.insert(cell.cell_key);
    }
  }
  std::ranges::stable_sort(result.launches, {},
                           [](const Launch& l) { return harness::seconds_of_utc(l.run.started); });
  require_alike(result.launches, "[launches]");
  std::set<std::string> all;
  for (const auto& cells : cells_of) all.insert(cells.begin(), cells.end());
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (cells_of[i].size() == all.size()) continue;
    const std::string what = fmt::format("{}: {} of {} cells; the sweep did not end", files[i].string(),
                                         cells_of[i].size(), all.size());
    if (torn == TornLine::kRefuse)
      throw std::runtime_error(what + ": finish it first, the same command goes on where it was");
    result.notes.push_back(what);
  }
  return result;
}

}  // namespace mirrorscale::scenarios

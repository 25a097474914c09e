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
    for (harness::RunRecord& run : set.runs) {
      Launch launch{std::move(run), {}};
      for (const harness::CellRecord& cell : set.cells) {
        if (cell.run_id == launch.run.run_id) launch.cells.push_back(cell);
      }
      require_plausible(launch, file.string());
      if (!launch.cells.empty()) result.launches.push_back(std::move(launch));
    }
  }
  std::ranges::stable_sort(result.launches, {},
                           [](const Launch& l) { return harness::seconds_of_utc(l.run.started); });
  require_alike(result.launches, "[launches]");
  return result;
}

}  // namespace mirrorscale::scenarios

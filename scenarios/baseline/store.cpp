#include "scenarios/baseline/store.h"

#include "harness/judge/sessions.h"
#include "harness/output/file.h"
#include "harness/record/environment.h"
#include "harness/record/json.h"
#include "scenarios/baseline/baseline_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace mirrorscale::scenarios {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".baseline.jsonl";

std::string id_of(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.size() - std::string(kSuffix).size());
}

std::string joined(const std::set<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

}  // namespace

namespace {

/// In exact numerics all launches of a plan end with the same weights, or one of them computed wrongly.
void require_same_results(const std::vector<Launch>& launches) {
  std::map<std::string, std::pair<std::string, std::string>> seen;  // by cell: hash, and whose
  for (const Launch& launch : launches) {
    for (const harness::CellRecord& cell : launch.cells) {
      if (cell.numerics != "exact" || cell.weight_hash.empty()) continue;
      const auto [found, first] =
          seen.try_emplace(cell.cell_key, std::pair(cell.weight_hash, launch.run.run_id));
      if (first || found->second.first == cell.weight_hash) continue;
      throw std::runtime_error(fmt::format(
          "[baseline] cell {}: launch {} ended with the weights {}, launch {} with {}; exact numerics give "
          "one result, so one of them is wrong. Find out which (mirrorscale validate) before it is a "
          "baseline",
          cell.cell_key, found->second.second, found->second.first, launch.run.run_id, cell.weight_hash));
    }
  }
}

}  // namespace

Baseline BaselineStore::save(std::vector<Launch> launches, const std::string& note,
                             const std::vector<std::string>& command) const {
  require_alike(launches, "[baseline]");
  require_same_results(launches);
  std::ranges::stable_sort(launches, {},
                           [](const Launch& l) { return harness::seconds_of_utc(l.run.started); });
  std::set<std::string> revisions, cells;
  for (const Launch& launch : launches) {
    revisions.insert(launch.run.git_revision);
    for (const harness::CellRecord& cell : launch.cells) cells.insert(cell.cell_key);
  }
  const harness::RunRecord& run = launches.front().run;
  Baseline baseline{{.id = harness::make_run_id(),
                     .saved = harness::utc_now(),
                     .command = command,
                     .version = harness::version(),
                     .git_revision = harness::git_revision(),
                     .measured_revision = joined(revisions),
                     .note = note,
                     .machine = machine_words(run),
                     .machine_fingerprint = run.machine_fingerprint,
                     .plan = harness::canonical_text(run.plan),
                     .plan_fingerprint = run.plan_fingerprint,
                     .launches = static_cast<std::int64_t>(launches.size()),
                     .cells = static_cast<std::int64_t>(cells.size()),
                     .content_sha256 = {}},
                    std::move(launches),
                    {}};
  const fs::path here = folder_ / baseline.header.machine_fingerprint / baseline.header.plan_fingerprint;
  // The newest is the one whose id is last: also of two in a second, and after a clock that was set back.
  for (const fs::path& file : files()) {
    const bool same = file.parent_path() == here;
    if (same && id_of(file) >= baseline.header.id) baseline.header.id = id_of(file) + "a";
  }
  baseline.path = here / (baseline.header.id + kSuffix);
  harness::write_file_atomically(baseline.path, to_text(baseline));
  return baseline;
}

std::vector<fs::path> BaselineStore::files() const {
  std::vector<fs::path> found;
  std::error_code missing;
  if (!fs::is_directory(folder_, missing)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (entry.is_regular_file() && entry.path().filename().string().ends_with(kSuffix)) {
      found.push_back(entry.path());
    }
  }
  // Ids begin with the time.
  std::ranges::sort(found, {}, [](const fs::path& file) { return file.filename(); });
  return found;
}

std::vector<Baseline> BaselineStore::all(std::vector<DamagedBaseline>& damaged) const {
  std::vector<Baseline> good;
  for (const fs::path& file : files()) {
    try {
      good.push_back(read_baseline(file));
    } catch (const std::exception& error) {
      damaged.push_back({file, error.what()});
    }
  }
  return good;
}

Baseline BaselineStore::find(const std::string& id) const {
  std::vector<fs::path> found;
  for (const fs::path& file : files()) {
    if (id_of(file) == id) return read_baseline(file);
    if (id_of(file).starts_with(id)) found.push_back(file);
  }
  if (found.size() == 1) return read_baseline(found.front());
  throw std::invalid_argument(
      fmt::format("[baseline] {} in {} has an id that begins with \"{}\"; see `mirrorscale baseline list`",
                  found.empty() ? "nothing" : "more than one", folder_.string(), id));
}

std::optional<Baseline> BaselineStore::newest(const std::string& machine_fingerprint,
                                              const std::string& plan_fingerprint) const {
  std::optional<fs::path> last;
  for (const fs::path& file : files()) {
    if (file.parent_path() == folder_ / machine_fingerprint / plan_fingerprint) last = file;
  }
  if (!last) return {};
  return read_baseline(*last);
}

std::optional<Baseline> BaselineStore::newest_of_plan(const std::string& plan_fingerprint) const {
  std::optional<fs::path> last;
  for (const fs::path& file : files()) {
    if (file.parent_path().filename() == plan_fingerprint) last = file;
  }
  if (!last) return {};
  return read_baseline(*last);
}

std::vector<fs::path> BaselineStore::prune(int keep, std::vector<DamagedBaseline>& damaged) const {
  if (keep < 1) throw std::invalid_argument("[baseline] --keep must be at least 1");
  std::map<fs::path, std::vector<fs::path>> groups;
  for (const Baseline& good : all(damaged)) groups[good.path.parent_path()].push_back(good.path);
  std::vector<fs::path> removed;
  for (const auto& [folder, group] : groups) {
    for (std::size_t i = 0; i + static_cast<std::size_t>(keep) < group.size(); ++i) {
      fs::remove(group[i]);
      removed.push_back(group[i]);
    }
    harness::sync_folder(folder);
  }
  return removed;
}

}  // namespace mirrorscale::scenarios

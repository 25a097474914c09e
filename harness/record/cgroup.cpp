#include "harness/record/cgroup.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace mirrorscale::harness {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> first_line(const fs::path& path) {
  std::ifstream stream(path);
  std::string line;
  if (!std::getline(stream, line)) return {};
  return line;
}

/// Empty for "max" and everything else that is no number.
std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return {};
  return value;
}

template <class T>
void tighten(T& limit, T found) {
  if (found > 0 && (limit == 0 || found < limit)) limit = found;
}

/// Calls `visit` for the group's folder and every one above it, down to `mount`.
template <class Visit>
void for_each_ancestor(const fs::path& mount, const std::string& group, Visit visit) {
  fs::path relative = fs::path(group).relative_path();
  for (;;) {
    visit(mount / relative);
    if (relative.empty() || relative == relative.parent_path()) return;
    relative = relative.parent_path();
  }
}

std::int64_t number_in(const fs::path& path) {
  const auto line = first_line(path);
  return line ? number(*line).value_or(0) : 0;
}

void tighten_memory(const fs::path& folder, const char* limit_file, const char* used_file,
                    CgroupLimits& limits) {
  constexpr std::int64_t kUnlimited = std::int64_t{1}
                                      << 60;  // version 1 writes "no limit" as a number near 2^63
  const std::int64_t limit = number_in(folder / limit_file);
  if (limit <= 0 || limit >= kUnlimited) return;
  const std::int64_t left = std::max<std::int64_t>(0, limit - number_in(folder / used_file));
  limits.memory_free_bytes = limits.memory_bytes == 0 ? left : std::min(limits.memory_free_bytes, left);
  tighten(limits.memory_bytes, limit);
}

void read_v2(const fs::path& folder, CgroupLimits& limits) {
  if (const auto line = first_line(folder / "cpu.max")) {  // "quota period" or "max period"
    const std::size_t space = line->find(' ');
    const auto quota = number(*line);
    const auto period =
        space == std::string::npos ? std::nullopt : number(std::string_view(*line).substr(space + 1));
    if (quota && period && *period > 0) {
      tighten(limits.cpu_quota_cores, static_cast<double>(*quota) / static_cast<double>(*period));
    }
  }
  tighten_memory(folder, "memory.max", "memory.current", limits);
}

void read_v1_cpu(const fs::path& folder, CgroupLimits& limits) {
  const auto quota = first_line(folder / "cpu.cfs_quota_us"),
             period = first_line(folder / "cpu.cfs_period_us");
  if (!quota || !period) return;
  const auto q = number(*quota), p = number(*period);
  if (q && p && *q > 0 && *p > 0)
    tighten(limits.cpu_quota_cores, static_cast<double>(*q) / static_cast<double>(*p));
}

void read_v1_memory(const fs::path& folder, CgroupLimits& limits) {
  tighten_memory(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", limits);
}

bool lists(const std::string& controllers, std::string_view wanted) {
  std::istringstream stream(controllers);
  for (std::string one; std::getline(stream, one, ',');) {
    if (one == wanted) return true;
  }
  return false;
}

}  // namespace

CgroupLimits detect_cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  const fs::path mount = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");  // lines "number:controllers:/group"
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      group = line.substr(second + 1);
    if (controllers.empty()) {
      // Beside version 1 the unified tree is mounted one folder deeper.
      for (const fs::path& top : {mount, mount / "unified"}) {
        for_each_ancestor(top, group, [&](const fs::path& folder) { read_v2(folder, limits); });
      }
    } else if (lists(controllers, "cpu")) {
      for (const char* name : {"cpu", "cpu,cpuacct", "cpuacct,cpu"}) {
        for_each_ancestor(mount / name, group, [&](const fs::path& folder) { read_v1_cpu(folder, limits); });
      }
    } else if (lists(controllers, "memory")) {
      for_each_ancestor(mount / "memory", group,
                        [&](const fs::path& folder) { read_v1_memory(folder, limits); });
    }
  }
  return limits;
}

}  // namespace mirrorscale::harness

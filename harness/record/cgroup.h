#pragma once
#include <cstdint>
#include <filesystem>

namespace mirrorscale::harness {

/// Limits that control groups (version 1 or 2) put on this process; the tightest of its group and those above
/// it.
struct CgroupLimits {
  double cpu_quota_cores = 0;     // cores of CPU time; 0: no limit
  std::int64_t memory_bytes = 0;  // 0: no limit
  /// What the fullest group has left of its own limit; caches count as used. No meaning without a limit.
  std::int64_t memory_free_bytes = 0;
};

/// `root` stands for "/" (a test makes a small tree of its own). No control groups, no limits.
CgroupLimits detect_cgroup_limits(const std::filesystem::path& root = "/");

}  // namespace mirrorscale::harness

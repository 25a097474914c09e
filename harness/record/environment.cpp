#include "harness/record/environment.h"

#include "harness/record/cgroup.h"
#include "harness/record/hash.h"
#include "harness/record/json.h"
#include "harness/record/topology.h"
#include "harness/version.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <fmt/core.h>
#include <fstream>
#include <gnu/libc-version.h>
#include <random>
#include <stdexcept>
#include <string_view>
#include <sys/utsname.h>
#include <system_error>
#include <unistd.h>

extern char** environ;

namespace mirrorscale::harness {
namespace {

/// What follows `name` and `separator` in the first line of the file that begins with `name`, without quotes.
std::string field_of(const char* path, std::string_view name, char separator) {
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(name)) continue;
    std::size_t start = line.find(separator);
    if (start == std::string::npos) continue;
    start = line.find_first_not_of(" \t\"", start + 1);
    if (start == std::string::npos) continue;
    return line.substr(start, line.find_last_not_of(" \t\"") - start + 1);
  }
  return {};
}

/// A line "name: 123 kB", in bytes.
std::int64_t kib_of(const char* path, std::string_view name, const char* what) {
  const std::string text = field_of(path, name, ':');
  std::int64_t kib = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), kib);
  if (read.ec != std::errc{}) throw std::runtime_error(fmt::format("can't read {}", what));
  return kib * 1024;
}

std::string cpu_model(const utsname& system) {
  for (const char* name : {"model name", "Model Name", "cpu model", "Processor"}) {
    if (std::string model = field_of("/proc/cpuinfo", name, ':'); !model.empty()) return model;
  }
  // Arm names its cores by number only.
  const std::string part = field_of("/proc/cpuinfo", "CPU part", ':');
  const std::string maker = field_of("/proc/cpuinfo", "CPU implementer", ':');
  return part.empty() ? system.machine
                      : fmt::format("{} implementer {} part {}", system.machine, maker, part);
}

std::string compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("GNU {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

bool matters(std::string_view variable) {
  constexpr std::array<std::string_view, 15> kPrefixes{
      "MIRRORSCALE_", "OMP_",    "GOMP_",     "KMP_",   "MKL_",    "OPENBLAS_", "BLIS_",       "DNNL_",
      "ONEDNN_",      "NVIDIA_", "OMPI_MCA_", "HWLOC_", "MALLOC_", "NCCL_",     "CUDA_DEVICE_"};
  constexpr std::array<std::string_view, 8> kNames{
      "CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "CUDA_MODULE_LOADING", "GLIBC_TUNABLES",
      "LD_PRELOAD",           "LD_LIBRARY_PATH",      "SLURM_CPUS_PER_TASK", "SLURM_JOB_ID"};
  for (const std::string_view prefix : kPrefixes) {
    if (variable.starts_with(prefix)) return true;
  }
  for (const std::string_view name : kNames) {
    if (variable == name) return true;
  }
  return false;
}

std::map<std::string, std::string> variables() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equal = text.find('=');
    if (equal == std::string_view::npos || !matters(text.substr(0, equal))) continue;
    found.emplace(text.substr(0, equal), text.substr(equal + 1));
  }
  return found;
}

std::int64_t cache_bytes(const Topology& topology, int level) {
  for (const CacheLevel& cache : topology.caches) {
    if (cache.level == level) return cache.bytes;
  }
  return 0;
}

}  // namespace

Environment detect_environment() {
  const Topology topology = detect_topology();
  utsname system{};
  if (uname(&system) != 0) throw std::runtime_error("can't read the name of this system");
  Environment environment;
  environment.host = system.nodename;
  environment.os = field_of("/etc/os-release", "PRETTY_NAME", '=');
  if (environment.os.empty()) environment.os = system.sysname;
  environment.kernel = system.release;
  environment.cpu_model = cpu_model(system);
  environment.cores = topology.usable_cores();
  environment.numa_nodes = static_cast<std::int64_t>(topology.numa_nodes.size());
  environment.l1d_bytes = cache_bytes(topology, 1);
  environment.l2_bytes = cache_bytes(topology, 2);
  environment.l3_bytes = cache_bytes(topology, 3);
  environment.memory_bytes = topology.memory_bytes;
  environment.compiler = compiler();
  environment.build_type = kBuildType;
  environment.libraries = {
      {"benchmark", kBenchmarkVersion},
      {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"glibc", gnu_get_libc_version()},
      {"hwloc", topology_library_version()},
      {"nlohmann-json", json_library_version()}};
  environment.variables = variables();
  return environment;
}

std::string machine_fingerprint(const Environment& environment) {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  const std::int64_t memory_gib = (environment.memory_bytes + kGiB / 2) / kGiB;
  return fingerprint(fmt::format("{}|{} cores|{} GiB|{}", environment.cpu_model, environment.cores,
                                 memory_gib, environment.target));
}

std::string version() {
  return kVersion;
}
std::string git_revision() {
  return kGitRevision;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string make_run_id() {
  std::string id = utc_now();
  for (char& c : id) c = c == ':' ? '-' : c;  // so that it can be part of a file name
  return fmt::format("{}-{:08x}", id, std::random_device{}());
}

std::int64_t process_peak_bytes() {
  return kib_of("/proc/self/status", "VmHWM", "this process's peak memory");
}

std::int64_t available_memory_bytes() {
  const std::int64_t machine = kib_of("/proc/meminfo", "MemAvailable", "the machine's available memory");
  const CgroupLimits limits = detect_cgroup_limits();
  return limits.memory_bytes > 0 ? std::min(machine, limits.memory_free_bytes) : machine;
}

}  // namespace mirrorscale::harness

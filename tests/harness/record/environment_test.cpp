#include "harness/record/environment.h"

#include "harness/record/cgroup.h"
#include "harness/record/topology.h"
#include "tests/harness/support/sample_records.h"
#include "tests/harness/support/temporary_folder.h"

#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sched.h>
#include <stdlib.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace mirrorscale::harness {
namespace {

TEST(Environment, SaysWhatThisMachineIs) {
  setenv("MIRRORSCALE_TEST_VARIABLE", "yes", 1);
  setenv("SOMETHING_ELSE", "no", 1);
  Environment environment = detect_environment();
  EXPECT_FALSE(environment.host.empty());
  EXPECT_FALSE(environment.os.empty());
  EXPECT_EQ(environment.os.find('"'), std::string::npos);
  EXPECT_FALSE(environment.kernel.empty());
  EXPECT_FALSE(environment.cpu_model.empty());
  EXPECT_GE(environment.cores, 1);
  EXPECT_GE(environment.memory_bytes, std::int64_t{1} << 26);
  EXPECT_FALSE(environment.compiler.empty());
  EXPECT_EQ(environment.variables.at("MIRRORSCALE_TEST_VARIABLE"), "yes");
  EXPECT_EQ(environment.variables.count("SOMETHING_ELSE"), 0u);
  for (const char* library : {"benchmark", "fmt", "glibc", "hwloc", "nlohmann-json"}) {
    EXPECT_TRUE(
        std::regex_match(environment.libraries.at(library), std::regex("[0-9]+[.][0-9]+([.][0-9]+)?")))
        << library;
  }

  // With what the engine adds it makes a record.
  RunRecord run = sample_run(make_run_id());
  environment.backend = "cpu";
  environment.target = "AVX2";
  run.environment = environment;
  run.started = utc_now();
  run.version = version();
  run.git_revision = git_revision();
  run.machine_fingerprint = machine_fingerprint(environment);
  EXPECT_NO_THROW(validate(run));
  EXPECT_TRUE(std::regex_match(run.git_revision, std::regex("unknown|[0-9a-f]{40}([+]changes)?")))
      << run.git_revision;
}

TEST(Environment, FingerprintIsOfWhatMakesMachinesComparable) {
  Environment machine = sample_run().environment;
  machine.cpu_model = "Example";
  machine.memory_bytes = std::int64_t{16} << 30;
  const std::string print = machine_fingerprint(machine);
  Environment other = machine;
  other.host = "node-b";
  other.memory_bytes -= 100 << 20;  // what the kernel keeps for itself differs from boot to boot
  EXPECT_EQ(machine_fingerprint(other), print);
  other.cores = 4;
  EXPECT_NE(machine_fingerprint(other), print);
  other = machine;
  other.target = "AVX3";
  EXPECT_NE(machine_fingerprint(other), print);
  other = machine;
  other.memory_bytes *= 2;
  EXPECT_NE(machine_fingerprint(other), print);
}

TEST(Environment, RunIdsAreUnique) {
  EXPECT_NE(make_run_id(), make_run_id());
  EXPECT_TRUE(std::regex_match(
      make_run_id(), std::regex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z-[0-9a-f]{8}")));
}

TEST(Environment, PeakMemoryGrowsByWhatIsTouched) {
  const std::int64_t before = process_peak_bytes();
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  const std::string touched(kBytes, 'x');
  EXPECT_GE(process_peak_bytes(), static_cast<std::int64_t>(kBytes));
  EXPECT_GE(process_peak_bytes(), before);
  EXPECT_EQ(touched.back(), 'x');
}

TEST(Topology, AgreesWithTheSystem) {
  const Topology topology = detect_topology();
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  EXPECT_EQ(topology.allowed_pus.size(), static_cast<std::size_t>(CPU_COUNT(&set)));
  for (const int pu : topology.allowed_pus) EXPECT_TRUE(CPU_ISSET(static_cast<unsigned>(pu), &set));
  EXPECT_GE(topology.machine_pus, static_cast<int>(topology.allowed_pus.size()));
  EXPECT_GE(topology.allowed_cores, 1);
  EXPECT_LE(topology.usable_cores(), topology.allowed_cores);
  EXPECT_GE(topology.numa_nodes.size(), 1u);
}

TEST(Topology, AffinityNarrowsIt) {
  // In a child, so that this process keeps its cores.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    cpu_set_t set, one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof(set), &set);
    for (unsigned pu = 0; pu < CPU_SETSIZE; ++pu) {
      if (CPU_ISSET(pu, &set)) {
        CPU_SET(pu, &one);
        break;
      }
    }
    sched_setaffinity(0, sizeof(one), &one);
    const Topology topology = detect_topology();
    _exit(topology.allowed_pus.size() == 1 && topology.usable_cores() == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Topology, QuotaLimitsUsableCores) {
  Topology topology;
  topology.allowed_cores = 8;
  EXPECT_EQ(topology.usable_cores(), 8);
  topology.cpu_quota_cores = 2.5;
  EXPECT_EQ(topology.usable_cores(), 2);
  topology.cpu_quota_cores = 0.5;
  EXPECT_EQ(topology.usable_cores(), 1);
  topology.cpu_quota_cores = 100;
  EXPECT_EQ(topology.usable_cores(), 8);
}

void put(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text << '\n';
}

TEST(Cgroup, Version2TightestOfAllAbove) {
  const TemporaryFolder root;
  put(root / "proc/self/cgroup", "0::/outer/inner");
  put(root / "sys/fs/cgroup/outer/cpu.max", "250000 100000");
  put(root / "sys/fs/cgroup/outer/inner/cpu.max", "max 100000");
  put(root / "sys/fs/cgroup/outer/memory.max", "max");
  put(root / "sys/fs/cgroup/outer/inner/memory.max", "1073741824");
  put(root / "sys/fs/cgroup/outer/inner/memory.current", "73741824");
  const CgroupLimits limits = detect_cgroup_limits(root.path());
  EXPECT_DOUBLE_EQ(limits.cpu_quota_cores, 2.5);
  EXPECT_EQ(limits.memory_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(limits.memory_free_bytes, 1000000000);
}

TEST(Cgroup, Version1) {
  const TemporaryFolder root;
  put(root / "proc/self/cgroup", "5:cpuacct,cpu:/box\n4:memory:/box\n0::/");
  put(root / "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "150000");
  put(root / "sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000");
  put(root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  put(root / "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  put(root / "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  put(root / "sys/fs/cgroup/memory/box/memory.limit_in_bytes", "2147483648");
  put(root / "sys/fs/cgroup/memory/box/memory.usage_in_bytes", "3147483648");
  const CgroupLimits limits = detect_cgroup_limits(root.path());
  EXPECT_DOUBLE_EQ(limits.cpu_quota_cores, 1.5);
  EXPECT_EQ(limits.memory_bytes, std::int64_t{1} << 31);
  EXPECT_EQ(limits.memory_free_bytes, 0) << "over its limit, and not less than nothing";
}

TEST(Cgroup, NoneIsNoLimit) {
  const TemporaryFolder root;
  EXPECT_EQ(detect_cgroup_limits(root.path()).cpu_quota_cores, 0);
  EXPECT_EQ(detect_cgroup_limits(root.path()).memory_bytes, 0);
}

}  // namespace
}  // namespace mirrorscale::harness

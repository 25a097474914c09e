#include "harness/measure/clock.h"
#include "harness/measure/thread_clock.h"
#include "harness/output/format.h"
#include "harness/record/topology.h"
#include "kernels/backend.h"
#include "scenarios/doctor/doctor.h"
#include "strategies/strategy.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

constexpr double kFirstFlops = 2e7, kLookS = 0.1;
constexpr int kLooks = 3;  // the best counts: others on the machine can only slow us down
constexpr double kMostWaiting = 0.05;
constexpr double kBudgetS = 2;  // for the looks of one measurement: a busy machine makes them long
constexpr std::size_t kArrayBytes = std::size_t{48} << 20;
constexpr std::size_t kBytesPerSum = 3 * sizeof(float);  // two read, one written

struct Rate {
  double per_s = 0;
  double waited = 0;  // part of the time that a thread had no core, in the best look
};

/// Work a second of all devices together, best of a few looks. `work` does something on a backend of its own
/// and returns how much that was.
using Work = std::function<double(kernels::Backend&)>;
Rate best_rate(int devices, const std::function<Work()>& make_work) {
  const strategies::Mirrored team(devices);
  const auto n = static_cast<std::size_t>(devices);
  std::vector<std::unique_ptr<kernels::Backend>> backends(n);
  std::vector<Work> works(n);
  team.run([&](const strategies::ReplicaContext& me) {
    const auto i = static_cast<std::size_t>(me.replica_id);
    backends[i] = kernels::make_backend("cpu");
    works[i] = make_work();
    works[i](*backends[i]);  // warm
  });
  Rate best;
  std::vector<double> done(n), seconds(n), waited(n);
  const harness::SteadyClock since;
  for (int look = 0; look < kLooks && (look == 0 || since.now_s() < kBudgetS); ++look) {
    team.run([&](const strategies::ReplicaContext& me) {
      const auto i = static_cast<std::size_t>(me.replica_id);
      me.communicator.barrier("start of a measurement");
      const harness::ThreadClock thread;
      const double before = thread.now().core_wait_s.value_or(0);
      const harness::SteadyClock clock;
      done[i] = works[i](*backends[i]);
      seconds[i] = clock.now_s();
      waited[i] = thread.now().core_wait_s.value_or(0) - before;
    });
    const double all = std::accumulate(done.begin(), done.end(), 0.0);
    const double longest = *std::max_element(seconds.begin(), seconds.end());
    if (all / longest > best.per_s)
      best = {all / longest, *std::max_element(waited.begin(), waited.end()) / longest};
  }
  return best;
}

Rate fma_rate(int devices) {
  const auto backend = kernels::make_backend("cpu");
  const harness::SteadyClock clock;
  const double first = backend->run_fma_peak(kFirstFlops);
  const double look = first / clock.now_s() * kLookS;
  return best_rate(devices, [look] { return [look](kernels::Backend& b) { return b.run_fma_peak(look); }; });
}

Rate memory_rate(int devices) {
  return best_rate(devices, [] {
    constexpr std::size_t kCount = kArrayBytes / sizeof(float);
    const std::shared_ptr<float[]> arrays(kernels::make_buffer(3 * kCount).release(), kernels::FreeBuffer());
    return [arrays](kernels::Backend& b) {
      float* const a = arrays.get();
      b.add(kCount, a, a + kCount, a + 2 * kCount);
      return static_cast<double>(kCount * kBytesPerSum);
    };
  });
}

/// "91.8 GFLOP/s on one core, 180.2 on 2 together (1.96 x)", and what stood in the way.
Finding one_and_all(const char* subject, const char* unit, int cores,
                    const std::function<Rate(int)>& measure) {
  const Rate one = measure(1), all = cores > 1 ? measure(cores) : one;
  char text[160];
  std::snprintf(text, sizeof text, "%.1f %s on one core", one.per_s * 1e-9, unit);
  Finding found{subject, text};
  if (cores > 1) {
    std::snprintf(text, sizeof text, ", %.1f on %d together (%.2f x)", all.per_s * 1e-9, cores,
                  all.per_s / one.per_s);
    found.text += text;
  }
  const double waited = std::max(one.waited, all.waited);
  if (waited > kMostWaiting) {
    found.state = FindingState::kNote;
    std::snprintf(text, sizeof text, "; other programs had the cores for %.0f %% of the time", 100 * waited);
    found.text += text;
    found.mend = "measure again when the machine is quiet: these numbers are too low";
  }
  return found;
}

}  // namespace

FindingSection measure_speed() {
  FindingSection section{"speed (measured now, best of 3)", {}};
  try {
    const int cores = harness::detect_topology().usable_cores();
    section.findings.push_back(one_and_all("FMA peak", "GFLOP/s", cores, fma_rate));
    section.findings.push_back(one_and_all("memory", "GB/s", cores, memory_rate));
    section.findings.back().text +=
        "; sum of two arrays of " + harness::format_bytes(static_cast<std::int64_t>(kArrayBytes));
  } catch (const std::exception& error) {
    section.findings.push_back({"FMA peak", error.what(), FindingState::kBroken, ""});
  }
  return section;
}

}  // namespace mirrorscale::scenarios

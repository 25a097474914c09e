#include "harness/measure/clock.h"
#include "harness/output/format.h"
#include "harness/record/topology.h"
#include "kernels/backend.h"
#include "scenarios/doctor/doctor.h"
#include "strategies/strategy.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

constexpr double kFirstFlops = 2e7, kLookS = 0.1;
constexpr int kLooks = 3;  // the best counts: others on the machine can only slow us down
constexpr std::size_t kArrayBytes = std::size_t{48} << 20;
constexpr std::size_t kBytesPerSum = 3 * sizeof(float);  // two read, one written

/// Work a second of all devices together, best of a few looks. `work` does something about `scale` times on a
/// backend of its own and returns how much that was.
using Work = std::function<double(kernels::Backend&, double scale)>;
double best_rate(int devices, double scale, const std::function<Work()>& make_work) {
  const strategies::Mirrored team(devices);
  std::vector<double> done(static_cast<std::size_t>(devices)), seconds(done.size());
  double best = 0;
  std::vector<std::unique_ptr<kernels::Backend>> backends(done.size());
  std::vector<Work> works(done.size());
  team.run([&](const strategies::ReplicaContext& me) {
    const auto i = static_cast<std::size_t>(me.replica_id);
    backends[i] = kernels::make_backend("cpu");
    works[i] = make_work();
    works[i](*backends[i], scale / 4);  // warm
  });
  for (int look = 0; look < kLooks; ++look) {
    team.run([&](const strategies::ReplicaContext& me) {
      const auto i = static_cast<std::size_t>(me.replica_id);
      me.communicator.barrier("start of a measurement");
      const harness::SteadyClock clock;
      done[i] = works[i](*backends[i], scale);
      seconds[i] = clock.now_s();
    });
    double sum = 0;
    for (const double d : done) sum += d;
    best = std::max(best, sum / *std::max_element(seconds.begin(), seconds.end()));
  }
  return best;
}

double fma_rate(int devices) {
  const auto backend = kernels::make_backend("cpu");
  const harness::SteadyClock clock;
  const double first = backend->run_fma_peak(kFirstFlops);
  const double per_s = first / clock.now_s();
  return best_rate(devices, per_s * kLookS,
                   [] { return [](kernels::Backend& b, double flops) { return b.run_fma_peak(flops); }; });
}

double memory_rate(int devices) {
  return best_rate(devices, 1, [] {
    constexpr std::size_t kCount = kArrayBytes / sizeof(float);
    const std::shared_ptr<float[]> arrays(kernels::make_buffer(3 * kCount).release(), kernels::FreeBuffer());
    return [arrays](kernels::Backend& b, double) {
      float* const a = arrays.get();
      b.add(kCount, a, a + kCount, a + 2 * kCount);
      return static_cast<double>(kCount * kBytesPerSum);
    };
  });
}

std::string one_and_all(double one, double all, int cores, double unit, const char* name) {
  char text[160];
  std::snprintf(text, sizeof text, "%.1f %s on one core", one / unit, name);
  std::string line = text;
  if (cores > 1) {
    std::snprintf(text, sizeof text, ", %.1f on %d together (%.2f x)", all / unit, cores, all / one);
    line += text;
  }
  return line;
}

}  // namespace

FindingSection measure_speed() {
  FindingSection section{"speed (measured now, best of 3)", {}};
  try {
    const int cores = harness::detect_topology().usable_cores();
    const double one = fma_rate(1), all = cores > 1 ? fma_rate(cores) : one;
    Finding peak{"FMA peak", one_and_all(one, all, cores, 1e9, "GFLOP/s")};
    if (all < 0.9 * one * cores) {
      peak.state = FindingState::kNote;
      peak.mend =
          "cores slow each other down (another load, shared hardware threads, or lower clocks under load): "
          "no "
          "training can scale better than this";
    }
    section.findings.push_back(peak);
    const double stream_one = memory_rate(1), stream_all = cores > 1 ? memory_rate(cores) : stream_one;
    section.findings.push_back({"memory", one_and_all(stream_one, stream_all, cores, 1e9, "GB/s") +
                                              ", sum of two arrays of " +
                                              harness::format_bytes(static_cast<std::int64_t>(kArrayBytes))});
  } catch (const std::exception& error) {
    section.findings.push_back({"FMA peak", error.what(), FindingState::kBroken, ""});
  }
  return section;
}

}  // namespace mirrorscale::scenarios

#include "scenarios/sweep/measured_cell.h"

#include "kernels/backend.h"
#include "kernels/device_list.h"
#include "strategies/timeline.h"

#include <exception>
#include <numeric>

namespace mirrorscale::scenarios {
namespace {

constexpr double kPeakFlops = 5e7;  // about half a millisecond of a core
constexpr double kShortestLookS = 2e-4, kMostFlops = 1e13;

std::vector<std::string> gpu_uuids(const CellSpec& spec) {
  std::vector<std::string> uuids;
  if (spec.backend != "cuda") return uuids;
  const kernels::DeviceList list = kernels::cuda_devices();
  for (int i = 0; i < spec.devices; ++i) uuids.push_back(list.devices.at(static_cast<std::size_t>(i)).uuid);
  return uuids;
}

}  // namespace

CellUnderTest::CellUnderTest(const CellSpec& spec, const strategies::DatasetPtr& data, double slice_s)
    : spec_(spec),
      strategy_(make_strategy(spec)),
      model_(make_model(spec, *data, strategy_)),
      loop_(model_, data, spec.global_batch, spec.seed),
      peaks_(static_cast<std::size_t>(spec.devices)),
      flops_per_step_(model_.network().flops_per_row() * spec.global_batch),
      makes_claim_(!oversubscribed(spec) && !emulated(spec)),
      clocks_(peaks_.size(), gpu_uuids(spec)) {
  if (makes_claim_) make_peaks();
  steady_ = warm_up([this] { return loop_.run(1); }, slice_s);
  loop_.reset_phases();
}

CellUnderTest::~CellUnderTest() {
  try {
    strategy_.run([this](const strategies::ReplicaContext& replica) {
      peaks_[static_cast<std::size_t>(replica.replica_id)].backend.reset();
    });
  } catch (const std::exception&) {
    // A rank is lost: what its thread made goes with this object.
  }
}

void CellUnderTest::make_peaks() {
  strategy_.run([this](const strategies::ReplicaContext& replica) {
    Peak& peak = peaks_[static_cast<std::size_t>(replica.replica_id)];
    peak.backend = kernels::make_backend(spec_.backend, strategy_.backend_options(replica.replica_id));
    peak.flops = kPeakFlops;
    if (peak.backend->info().on_host) return;
    // A GPU is done with that in less time than it takes to tell it: more, until it is worth a look.
    for (double seconds = 0; peak.flops < kMostFlops; peak.flops *= 4) {
      const double start = strategies::now_s();
      peak.backend->run_fma_peak(peak.flops);
      seconds = strategies::now_s() - start;
      if (seconds >= kShortestLookS) break;
    }
  });
}

double CellUnderTest::run_slice(int steps) {
  const auto on_each = [this](void (harness::SliceClocks::*read)(std::size_t)) {
    strategy_.run([&](const strategies::ReplicaContext& replica) {
      (clocks_.*read)(static_cast<std::size_t>(replica.replica_id));
    });
  };
  on_each(&harness::SliceClocks::begin);
  const double seconds = loop_.run(steps);
  on_each(&harness::SliceClocks::end);
  clocks_.add_slice(steps, seconds);
  step_times_s_.insert(step_times_s_.end(), loop_.last_step_times_s().begin(),
                       loop_.last_step_times_s().end());
  if (makes_claim_) peak_shares_.push_back(flops_per_step_ * steps / seconds / peak_flops_per_s());
  return seconds;
}

double CellUnderTest::peak_flops_per_s() {
  std::vector<double> rates(peaks_.size());
  strategy_.run([&](const strategies::ReplicaContext& replica) {
    const auto r = static_cast<std::size_t>(replica.replica_id);
    replica.communicator.barrier("peak");
    const double start = strategies::now_s();
    const double flops = peaks_[r].backend->run_fma_peak(peaks_[r].flops);
    rates[r] = flops / (strategies::now_s() - start);
  });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

}  // namespace mirrorscale::scenarios

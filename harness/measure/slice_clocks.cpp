#include "harness/measure/slice_clocks.h"

#include "harness/measure/clock.h"
#include "harness/measure/summary.h"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

namespace mirrorscale::harness {
namespace {

constexpr double kBetweenLooksS = 0.05;  // a look at a GPU takes up to a millisecond

std::optional<Interval> range_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto [low, high] = std::ranges::minmax(values);
  return Interval{*median(values), low, high};
}

template <class Member>
std::optional<Interval> range_of(const std::vector<GpuState>& looks, Member member) {
  std::vector<double> values;
  for (const GpuState& look : looks) {
    if (look.*member) values.push_back(*(look.*member));
  }
  return range_of(values);
}

double seconds_now() {
  static const SteadyClock clock;
  return clock.now_s();
}

}  // namespace

void ClockSums::add(int steps, double seconds, const std::vector<SliceUse>& uses, bool gpu_throttled) {
  bool preempted = false, throttled = gpu_throttled;
  for (std::size_t r = 0; r < replicas_.size(); ++r) {
    const SliceUse& use = uses.at(r);
    Replica& sum = replicas_[r];
    sum.cpu_s += use.cpu_s;
    sum.preemptions += use.preemptions;
    sum.core_wait_s += use.core_wait_s.value_or(0);
    sum.has_wait = sum.has_wait && use.core_wait_s.has_value();
    sum.instructions += use.instructions.value_or(0);
    sum.has_instructions = sum.has_instructions && use.instructions.has_value();
    if (use.core_hz) core_hz_.push_back(*use.core_hz);
    throttled = throttled || use.throttles > 0;
    preempted =
        preempted || (use.core_wait_s ? *use.core_wait_s > kPreemptedShare * seconds : use.preemptions > 0);
  }
  steps_ += steps;
  counted_.preempted_steps += preempted ? steps : 0;
  counted_.throttled_steps += throttled ? steps : 0;
  counted_.disturbed_steps += preempted || throttled ? steps : 0;
}

Clocks ClockSums::clocks() const {
  Clocks clocks = counted_;
  const double steps = static_cast<double>(std::max<std::int64_t>(steps_, 1));
  const auto all = [&](bool Replica::*has) { return steps_ > 0 && std::ranges::all_of(replicas_, has); };
  const bool waits = all(&Replica::has_wait), instructions = all(&Replica::has_instructions);
  for (const Replica& replica : replicas_) {
    clocks.cpu_s_per_step.push_back(replica.cpu_s / steps);
    clocks.preemptions.push_back(replica.preemptions);
    if (waits) clocks.core_wait_s_per_step.push_back(replica.core_wait_s / steps);
    if (instructions) clocks.instructions_per_step.push_back(replica.instructions / steps);
  }
  clocks.core_hz = range_of(core_hz_);
  return clocks;
}

SliceClocks::SliceClocks(std::size_t replicas, std::vector<std::string> gpu_uuids)
    : seats_(replicas), sums_(replicas) {
  for (std::string& uuid : gpu_uuids) gpus_.push_back({std::move(uuid), {}, {}});
  if (!gpus_.empty()) sensor_ = std::make_unique<GpuSensor>();
}

void SliceClocks::begin(std::size_t replica) {
  Seat& seat = seats_.at(replica);
  if (!seat.thread) {
    seat.thread.emplace();
    seat.instructions.emplace();
  }
  seat.core_before = core_.read(current_core());
  seat.before = seat.thread->now();
  seat.instructions_before = seat.instructions->now();
}

void SliceClocks::end(std::size_t replica) {
  Seat& seat = seats_.at(replica);
  const std::optional<double> instructions = seat.instructions->now();
  const ThreadUse after = seat.thread->now();
  const CoreState core = core_.read(current_core());
  SliceUse& use = seat.use = {};
  use.cpu_s = after.cpu_s - seat.before.cpu_s;
  use.preemptions = after.preemptions - seat.before.preemptions;
  if (after.core_wait_s && seat.before.core_wait_s)
    use.core_wait_s = *after.core_wait_s - *seat.before.core_wait_s;
  if (instructions) use.instructions = *instructions - seat.instructions_before.value_or(0);
  use.core_hz = core.hz;
  if (core.throttles && seat.core_before.throttles) {
    use.throttles = std::max<std::int64_t>(0, *core.throttles - *seat.core_before.throttles);
  }
}

void SliceClocks::add_slice(int steps, double seconds) {
  if (!first_) first_ = machine_time();
  look_at_gpus();
  std::vector<SliceUse> uses;
  for (const Seat& seat : seats_) uses.push_back(seat.use);
  sums_.add(steps, seconds, uses, gpu_throttled_);
}

void SliceClocks::look_at_gpus() {
  if (!sensor_ || !sensor_->why_not().empty()) return;
  const double now_s = seconds_now();
  if (last_look_s_ >= 0 && now_s - last_look_s_ < kBetweenLooksS) return;
  last_look_s_ = now_s;
  gpu_throttled_ = false;
  for (Gpu& gpu : gpus_) {
    if (!gpu.trouble.empty()) continue;
    try {
      gpu.looks.push_back(sensor_->read(gpu.uuid));
      gpu_throttled_ = gpu_throttled_ || !gpu.looks.back().throttle_reasons.empty();
    } catch (const std::exception& error) {
      gpu.trouble = error.what();
    }
  }
}

Clocks SliceClocks::clocks() const {
  Clocks clocks = sums_.clocks();
  if (clocks.core_wait_s_per_step.empty()) {
    clocks.not_measured["core_wait_s_per_step"] = "the system doesn't count it (/proc/thread-self/schedstat)";
  }
  if (clocks.instructions_per_step.empty() && !seats_.empty() && seats_.front().instructions) {
    const std::string& why = seats_.front().instructions->why_not();
    clocks.not_measured["instructions_per_step"] = why.empty() ? "the counter never had a turn" : why;
  }
  if (!clocks.core_hz) {
    clocks.not_measured["core_hz"] = "the system doesn't tell (cpufreq; usual in virtual machines)";
  }
  const std::optional<MachineTime> last = machine_time();
  if (first_ && last && last->all_s > first_->all_s) {
    clocks.steal_share =
        std::clamp((last->stolen_s - first_->stolen_s) / (last->all_s - first_->all_s), 0.0, 1.0);
  } else {
    clocks.not_measured["steal_share"] = "the system doesn't tell, or the cell was over too soon";
  }
  if (sensor_ && !sensor_->why_not().empty()) clocks.not_measured["gpus"] = sensor_->why_not();
  for (const Gpu& gpu : gpus_) {
    if (!gpu.trouble.empty()) clocks.not_measured["gpus"] = gpu.trouble;
    if (gpu.looks.empty()) continue;
    GpuClocks& seen = clocks.gpus.emplace_back();
    seen.uuid = gpu.uuid;
    seen.looks = static_cast<std::int64_t>(gpu.looks.size());
    seen.sm_hz = range_of(gpu.looks, &GpuState::sm_hz);
    seen.memory_hz = range_of(gpu.looks, &GpuState::memory_hz);
    seen.temperature_c = range_of(gpu.looks, &GpuState::temperature_c);
    seen.power_w = range_of(gpu.looks, &GpuState::power_w);
    std::set<std::string> reasons;
    for (const GpuState& look : gpu.looks)
      reasons.insert(look.throttle_reasons.begin(), look.throttle_reasons.end());
    seen.throttle_reasons.assign(reasons.begin(), reasons.end());
  }
  return clocks;
}

}  // namespace mirrorscale::harness

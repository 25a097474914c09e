#include "scenarios/sweep/measure.h"

#include "harness/gbench/interleaved.h"
#include "harness/measure/efficiency.h"
#include "harness/measure/ratio.h"
#include "harness/measure/summary.h"
#include "harness/output/format.h"
#include "scenarios/sweep/measured_cell.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace mirrorscale::scenarios {
namespace {

constexpr int kFewestRounds = 2;
constexpr int kRoundsBetweenLooks = 10;  // the bootstrap is not free

struct Estimates {
  std::optional<harness::Interval> samples_per_s, speedup;
};

/// The group while it is measured: cells, the base of speed-up, and their intervals.
class GroupRun {
 public:
  GroupRun(std::vector<std::unique_ptr<SliceSource>> cells, const strategies::Dataset& data,
           const MeasureOptions& options)
      : cells_(std::move(cells)), failures_(cells_.size()), data_(data), options_(options) {
    for (std::size_t i = 0; i < cells_.size() && !base_; ++i) {
      if (cells_[i]->makes_claim()) base_ = i;
    }
    std::vector<harness::TimedCell> timed;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const SliceSource& cell = *cells_[i];
      timed.push_back({cell.spec().key(), [this, i](int steps) { return run_slice(i, steps); },
                       cell.steps_per_slice(), static_cast<double>(cell.spec().global_batch)});
    }
    run_.emplace(std::move(timed), options.seed);
  }

  void run() {
    run_->run([&](harness::InterleavedRun& now) {
      if (device_failed_) return false;
      if (now.rounds() < kFewestRounds) return true;  // one slice has no interval
      const bool enough =
          now.rounds() >= options_.stopping.most_slices || now.elapsed_s() >= options_.stopping.budget_s;
      if (!enough && now.rounds() % kRoundsBetweenLooks != 0) return true;
      double widest = 0;
      std::optional<harness::Interval> worst;
      for (std::size_t i = 0; i < cells_.size(); ++i) {
        const Estimates e = estimates(i);
        for (const auto& interval : {e.speedup, base_ ? std::nullopt : e.samples_per_s}) {
          if (interval && interval->relative_half_width() >= widest) {
            widest = interval->relative_half_width();
            worst = interval;
          }
        }
      }
      if (!worst && base_) worst = estimates(*base_).samples_per_s;  // the base alone
      options_.progress("round " + std::to_string(now.rounds()) + ", " +
                        harness::format_seconds(now.elapsed_s()) + ", intervals to ±" +
                        harness::format_percent(widest));
      reason_ = harness::stop_reason(options_.stopping, {now.rounds(), now.elapsed_s(), worst});
      return !reason_.has_value();
    });
  }

  MeasuredCell result(std::size_t i) const {
    const SliceSource& cell = *cells_[i];
    const harness::CellTiming& timing = run_->timings()[i];
    if (failures_[i]) return {{}, failures_[i]};
    if (device_failed_) return {};
    if (!timing.error.empty()) return {{}, CellFailure{harness::ReasonKind::kOther, timing.error}};
    harness::Measurement m;
    m.slices = static_cast<std::int64_t>(timing.slices.size());
    m.steps_per_slice = timing.steps_per_slice;
    m.steps = static_cast<std::int64_t>(cell.step_times_s().size());
    m.warmup_steps = cell.warmup_steps();
    m.stop_reason = reason_.value_or(harness::StopReason::kSlices);
    m.step_p50_s = *harness::quantile(cell.step_times_s(), 0.5);
    m.step_p95_s = *harness::quantile(cell.step_times_s(), 0.95);
    m.step_min_s = *std::min_element(cell.step_times_s().begin(), cell.step_times_s().end());
    const Estimates e = estimates(i);
    m.slice_samples_per_s = timing.samples_per_s();
    const double median = *harness::median(m.slice_samples_per_s);
    m.samples_per_s = e.samples_per_s.value_or(harness::Interval{median, median, median});
    const bool good_base = base_ && !disturbance(*base_);
    if (base_ && i == *base_) {
      m.speedup = m.efficiency = harness::kUnity;
    } else if (good_base && e.speedup) {
      m.speedup = e.speedup;
      m.efficiency = harness::efficiency(*e.speedup, cell.spec().devices, cells_[*base_]->spec().devices);
    }
    m.base_key = good_base && cell.makes_claim() ? cells_[*base_]->spec().key() : "";
    const Phases p = cell.phases();
    m.phases_s = {p.input_s, p.forward_s, p.backward_s, p.reduction_s, p.optimizer_s, p.wait_s};
    m.fma_peak_share = harness::median(cell.peak_shares());
    for (const harness::Slice& slice : timing.slices) m.slice_start_s.push_back(slice.start_s);
    m.step_s = harness::thin_out(cell.step_times_s());
    m.clocks = cell.clocks();
    if (const auto why = disturbance(i))
      return {{}, CellFailure{harness::ReasonKind::kDisturbed, *why + told(m)}};
    return {m, {}};
  }

 private:
  double run_slice(std::size_t i, int steps) {
    if (device_failed_) throw std::runtime_error("not measured: a device failed");
    try {
      return cells_[i]->run_slice(steps);
    } catch (const std::exception&) {
      failures_[i] = failure_of(cells_[i]->spec(), data_);
      if (failures_[i]->kind == harness::ReasonKind::kOutOfMemory && cells_.size() > 1) {
        failures_[i]->text += "; it takes turns with " + std::to_string(cells_.size() - 1) +
                              " other cell(s), which hold memory too: a sweep of it alone has more room";
      }
      device_failed_ = device_failed_ || failures_[i]->kind == harness::ReasonKind::kDeviceFailed;
      throw;
    }
  }

  /// Why the times of a cell are not to be used; empty where they are.
  std::optional<std::string> disturbance(std::size_t i) const {
    const auto clocks = cells_[i]->clocks();
    const auto steps = static_cast<std::int64_t>(cells_[i]->step_times_s().size());
    if (!clocks || !cells_[i]->makes_claim() || steps == 0) return {};
    if (static_cast<double>(clocks->disturbed_steps) <= options_.most_disturbed * static_cast<double>(steps))
      return {};
    return std::to_string(clocks->disturbed_steps) + " of " + std::to_string(steps) +
           " steps were disturbed (" + std::to_string(clocks->preempted_steps) + " preempted, " +
           std::to_string(clocks->throttled_steps) + " throttled), more than the share of " +
           harness::format_percent(options_.most_disturbed) + " that is allowed";
  }
  static std::string told(const harness::Measurement& m) {
    return "; not counted: " + harness::format_count(m.samples_per_s.value) +
           " samples/s. Free the machine and run the same command again, or allow more (--most-disturbed)";
  }

  Estimates estimates(std::size_t i) const {
    Estimates e;
    const harness::BootstrapOptions bootstrap{.seed = options_.seed};
    const auto& timings = run_->timings();
    const std::vector<double> own = timings[i].samples_per_s();
    e.samples_per_s = harness::median_interval(own, bootstrap);
    if (base_ && i != *base_ && cells_[i]->makes_claim()) {
      const harness::PairedSlices pairs = harness::pair_slices(timings[i], timings[*base_]);
      e.speedup =
          harness::paired_ratio_interval(pairs.first_samples_per_s, pairs.second_samples_per_s, bootstrap);
    }
    return e;
  }

  std::vector<std::unique_ptr<SliceSource>> cells_;
  std::vector<std::optional<CellFailure>> failures_;  // by cell
  bool device_failed_ = false;                        // nothing runs after that
  const strategies::Dataset& data_;
  const MeasureOptions& options_;
  std::optional<std::size_t> base_;
  std::optional<harness::InterleavedRun> run_;
  std::optional<harness::StopReason> reason_;
};

}  // namespace

std::vector<MeasuredCell> measure_group(const std::vector<CellSpec>& specs,
                                        const strategies::DatasetPtr& data, const MeasureOptions& options) {
  std::vector<MeasuredCell> results(specs.size());
  std::vector<std::unique_ptr<SliceSource>> cells;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    options.progress("warm-up of " + std::to_string(specs[i].devices) + " devices");
    try {
      cells.push_back(std::make_unique<CellUnderTest>(specs[i], data, options.slice_s));
      which.push_back(i);
    } catch (const std::exception&) {
      results[i].failure = failure_of(specs[i], *data);
      if (results[i].failure->kind == harness::ReasonKind::kDeviceFailed) return results;
    }
  }
  if (cells.empty()) return results;
  std::vector<MeasuredCell> measured = measure_ready(std::move(cells), *data, options);
  for (std::size_t k = 0; k < which.size(); ++k) results[which[k]] = std::move(measured[k]);
  return results;
}

std::vector<MeasuredCell> measure_ready(std::vector<std::unique_ptr<SliceSource>> cells,
                                        const strategies::Dataset& data, const MeasureOptions& options) {
  const std::size_t count = cells.size();
  GroupRun group(std::move(cells), data, options);
  group.run();
  std::vector<MeasuredCell> results;
  for (std::size_t k = 0; k < count; ++k) results.push_back(group.result(k));
  return results;
}

}  // namespace mirrorscale::scenarios

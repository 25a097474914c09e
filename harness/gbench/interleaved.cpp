#include "harness/gbench/interleaved.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

namespace mirrorscale::harness {
namespace {

/// Hands the CPU time of each slice back and prints nothing.
class CpuTimeReporter final : public benchmark::BenchmarkReporter {
 public:
  explicit CpuTimeReporter(std::vector<double>& cpu_s_by_run) : cpu_s_(cpu_s_by_run) {}
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) cpu_s_.push_back(run.cpu_accumulated_time);
  }

 private:
  std::vector<double>& cpu_s_;
};

/// One slice of `cell` inside Google Benchmark's loop; throws what the cell throws.
void run_slice(const TimedCell& cell, benchmark::State& state, Slice& slice) {
  const auto steps = static_cast<benchmark::IterationCount>(cell.steps_per_slice);
  while (state.KeepRunningBatch(steps)) {
    slice.seconds = cell.run_steps(cell.steps_per_slice);
    if (!std::isfinite(slice.seconds) || slice.seconds <= 0) {
      throw std::runtime_error(fmt::format("{} steps are said to have taken {} s; expected a time above 0",
                                           cell.steps_per_slice, slice.seconds));
    }
    state.SetIterationTime(slice.seconds);
  }
}

}  // namespace

std::vector<double> CellTiming::samples_per_s() const {
  std::vector<double> rates;
  rates.reserve(slices.size());
  for (const Slice& slice : slices) rates.push_back(samples_per_step * steps_per_slice / slice.seconds);
  return rates;
}

PairedSlices pair_slices(const CellTiming& first, const CellTiming& second) {
  const std::vector<double> first_rates = first.samples_per_s(), second_rates = second.samples_per_s();
  PairedSlices pairs;
  for (std::size_t i = 0, j = 0; i < first_rates.size() && j < second_rates.size();) {
    const int a = first.slices[i].round, b = second.slices[j].round;
    if (a == b) {
      pairs.first_samples_per_s.push_back(first_rates[i]);
      pairs.second_samples_per_s.push_back(second_rates[j]);
    }
    i += a <= b ? 1u : 0u;
    j += b <= a ? 1u : 0u;
  }
  return pairs;
}

InterleavedRun::InterleavedRun(std::vector<TimedCell> cells, std::uint64_t seed)
    : cells_(std::move(cells)), active_(cells_.size(), true), random_(seed) {
  if (cells_.empty()) throw std::invalid_argument("[InterleavedRun] no cells to time");
  std::set<std::string> names;
  for (const TimedCell& cell : cells_) {
    if (cell.name.empty() || !names.insert(cell.name).second) {
      throw std::invalid_argument(
          fmt::format("[InterleavedRun] cell \"{}\": expected a name of its own", cell.name));
    }
    if (!cell.run_steps)
      throw std::invalid_argument(fmt::format("[InterleavedRun] cell {} has no function", cell.name));
    if (cell.steps_per_slice < 1 || !(cell.samples_per_step > 0)) {
      throw std::invalid_argument(
          fmt::format("[InterleavedRun] cell {}: {} steps a slice of {} samples; expected at "
                      "least 1 step and more than 0 samples",
                      cell.name, cell.steps_per_slice, cell.samples_per_step));
    }
    timings_.push_back({.name = cell.name,
                        .steps_per_slice = cell.steps_per_slice,
                        .samples_per_step = cell.samples_per_step});
  }
}

void InterleavedRun::run(const std::function<bool(InterleavedRun&)>& after_round) {
  const auto any_active = [&] { return std::ranges::find(active_, true) != active_.end(); };
  while (any_active()) {
    run_round();
    if (!after_round(*this)) return;
  }
}

void InterleavedRun::retire(std::size_t cell) {
  active_.at(cell) = false;
}

void InterleavedRun::run_round() {
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    if (active_[c]) order.push_back(c);
  }
  // Fisher-Yates by hand: std::shuffle draws differently from library to library.
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_() % i]);

  benchmark::ClearRegisteredBenchmarks();
  std::vector<Slice> slices(order.size(), Slice{.round = rounds_});
  for (std::size_t i = 0; i < order.size(); ++i) {
    const TimedCell& cell = cells_[order[i]];
    std::string& error = timings_[order[i]].error;
    Slice& slice = slices[i];
    benchmark::RegisterBenchmark(cell.name.c_str(),
                                 [this, &cell, &error, &slice](benchmark::State& state) {
                                   slice.start_s = clock_.now_s();
                                   try {
                                     run_slice(cell, state, slice);
                                   } catch (const std::exception& thrown) {
                                     error =
                                         *thrown.what() == '\0' ? "failed without a reason" : thrown.what();
                                   } catch (...) {
                                     error = "threw something that is no std::exception";
                                   }
                                   if (!error.empty()) state.SkipWithError(error.c_str());
                                 })
        ->Iterations(cell.steps_per_slice)
        ->UseManualTime()
        ->MeasureProcessCPUTime();
  }
  std::vector<double> cpu_s;
  CpuTimeReporter reporter(cpu_s);
  benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, ".");
  benchmark::ClearRegisteredBenchmarks();
  if (cpu_s.size() != order.size()) {
    throw std::logic_error(
        fmt::format("[InterleavedRun] Google Benchmark ran {} of {} cells; is one of its "
                    "environment variables (BENCHMARK_*) set?",
                    cpu_s.size(), order.size()));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    CellTiming& timing = timings_[order[i]];
    if (timing.error.empty()) {
      slices[i].cpu_s = cpu_s[i];
      timing.slices.push_back(slices[i]);
    } else {
      active_[order[i]] = false;
    }
  }
  ++rounds_;
}

}  // namespace mirrorscale::harness

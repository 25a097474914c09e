#include "harness/check/shards.h"
#include "scenarios/lessons/lessons.h"
#include "scenarios/lessons/material.h"
#include "strategies/input/shuffler.h"

#include <algorithm>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

constexpr int kBatch = 512, kQuickBatch = 256;
constexpr std::int64_t kRows = 12000, kQuickRows = 4096;
constexpr double kMostOfThem = 0.75;  // of the steps: the system may take a core away for one
constexpr double kLeastBusy = 0.25;   // of a replica's time spent computing; the rest it waits for others

/// Rows that each replica took, by step. Every replica writes a row of its own.
class RowCount final : public strategies::RowObserver {
 public:
  RowCount(int replicas, std::size_t steps)
      : taken_(static_cast<std::size_t>(replicas), std::vector<std::int64_t>(steps)) {}
  void rows_taken(int replica, std::int64_t step, std::span<const std::int64_t> rows) override {
    taken_[static_cast<std::size_t>(replica)][static_cast<std::size_t>(step)] +=
        static_cast<std::int64_t>(rows.size());
  }
  std::int64_t at(int replica, std::size_t step) const {
    return taken_[static_cast<std::size_t>(replica)][step];
  }
  std::int64_t total(int replica) const {
    std::int64_t sum = 0;
    for (const std::int64_t rows : taken_[static_cast<std::size_t>(replica)]) sum += rows;
    return sum;
  }

 private:
  std::vector<std::vector<std::int64_t>> taken_;
};

double computing_s(const strategies::StepMarks& m) {
  return m.input_s + m.forward_s + m.backward_s;
}
double whole_s(const strategies::StepMarks& m) {
  return computing_s(m) + m.reduction_s + m.optimizer_s + m.wait_s;
}

/// Part of the longest computation of a step during which all replicas computed.
double together(const strategies::Timeline& timeline, std::size_t step) {
  double last_begin = 0, first_end = 0, longest = 0;
  for (int r = 0; r < timeline.replicas(); ++r) {
    const strategies::StepMarks& m = timeline.at(r, step);
    const double begin = m.end_s - whole_s(m), end = begin + computing_s(m);
    last_begin = r == 0 ? begin : std::max(last_begin, begin);
    first_end = r == 0 ? end : std::min(first_end, end);
    longest = std::max(longest, computing_s(m));
  }
  return longest > 0 ? std::max(0.0, first_end - last_begin) / longest : 0;
}

double busy(const strategies::Timeline& timeline, int replica) {
  double computing = 0, whole = 0;
  for (std::size_t s = 0; s < timeline.steps(); ++s) {
    computing += whole_s(timeline.at(replica, s)) - timeline.at(replica, s).wait_s;
    whole += whole_s(timeline.at(replica, s));
  }
  return computing / whole;
}

harness::Verdict judge_shares(const RowCount& rows, int replicas, std::size_t steps, int batch) {
  for (std::size_t s = 0; s < steps; ++s) {
    std::vector<harness::RowRange> shards;
    std::int64_t first = 0;
    for (int r = 0; r < replicas; ++r) {
      shards.push_back({first, rows.at(r, s)});
      first += rows.at(r, s);
    }
    const harness::Verdict verdict =
        harness::check_shards(batch, shards, {strategies::micro_shard_rows(batch), std::nullopt});
    if (verdict.outcome == harness::Outcome::kFailed) {
      return harness::failed("SHD", text("step %zu: ", s + 1) + verdict.evidence);
    }
  }
  return harness::passed(
      "SHD", text("in each of %zu steps every replica had its share, and no row went missing", steps));
}

harness::Verdict judge_together(const strategies::Timeline& timeline, int devices,
                                const std::string& unfair) {
  if (devices == 1) return harness::skipped("TOGETHER", "one replica is always alone");
  if (!unfair.empty()) return harness::skipped("TOGETHER", unfair);
  std::size_t overlapping = 0;
  double sum = 0;
  for (std::size_t s = 0; s < timeline.steps(); ++s) {
    const double part = together(timeline, s);
    overlapping += part > 0 ? 1 : 0;
    sum += part;
  }
  const auto steps = static_cast<double>(timeline.steps());
  const std::string evidence = text(
      "in %zu of %zu steps all replicas computed at the same time, %.0f %% of the longest "
      "computation on average",
      overlapping, timeline.steps(), 100 * sum / steps);
  return static_cast<double>(overlapping) >= kMostOfThem * steps ? harness::passed("TOGETHER", evidence)
                                                                 : harness::failed("TOGETHER", evidence);
}

harness::Verdict judge_idle(const strategies::Timeline& timeline, const strategies::Strategy& strategy,
                            const std::string& unfair) {
  if (!unfair.empty()) return harness::skipped("IDLE", unfair);
  int least = 0;
  for (int r = 1; r < timeline.replicas(); ++r) {
    if (busy(timeline, r) < busy(timeline, least)) least = r;
  }
  const std::string evidence =
      text("the least busy replica (%s) works %.0f %% of its time",
           strategy.devices()[static_cast<std::size_t>(least)].c_str(), 100 * busy(timeline, least));
  return busy(timeline, least) >= kLeastBusy ? harness::passed("IDLE", evidence)
                                             : harness::failed("IDLE", evidence);
}

}  // namespace

LessonResult busy_replicas(const LessonOptions& options) {
  const Material given = material(options, kRows, kQuickRows);
  const int devices = device_count(options), batch = options.quick ? kQuickBatch : kBatch;
  const strategies::DatasetPtr data = given.data.train;
  const std::int64_t steps = data->rows() / batch;
  if (steps < 2) {
    throw std::invalid_argument(text("the data have %lld rows; this lesson needs %d or more",
                                     static_cast<long long>(data->rows()), 2 * batch));
  }
  Trial trial(given, on_devices(devices), batch, options);
  strategies::Session& session = trial.model().session();
  session.start_training(data, batch);
  const auto order = strategies::UniformShuffle().order(data->rows(), options.seed, 0);
  RowCount rows(devices, static_cast<std::size_t>(steps));
  session.set_observer(&rows);
  session.train(order, 0, 1);  // touches all memory for the first time: not timed
  strategies::Timeline timeline(devices, static_cast<std::size_t>(steps - 1));
  const double waited =
      time_without_core(trial.model().strategy(), [&] { session.train(order, 1, steps - 1, &timeline); });
  session.set_observer(nullptr);

  LessonResult result;
  const auto all = static_cast<double>(steps * batch);
  for (int r = 0; r < devices; ++r) {
    result.lines.push_back(text("%s: %lld rows (%.1f %%) in %lld steps, computing %.0f %% of the time",
                                trial.model().strategy().devices()[static_cast<std::size_t>(r)].c_str(),
                                static_cast<long long>(rows.total(r)),
                                100 * static_cast<double>(rows.total(r)) / all, static_cast<long long>(steps),
                                100 * busy(timeline, r)));
  }
  const std::string unfair = why_not_timed(devices, waited);
  result.verdicts = {judge_shares(rows, devices, static_cast<std::size_t>(steps), batch),
                     judge_together(timeline, devices, unfair),
                     judge_idle(timeline, trial.model().strategy(), unfair)};
  return result;
}

}  // namespace mirrorscale::scenarios

#include "scenarios/lessons/material.h"

#include "harness/measure/clock.h"
#include "harness/measure/ratio.h"
#include "harness/measure/thread_clock.h"
#include "harness/output/format.h"
#include "harness/record/topology.h"
#include "scenarios/commands/devices.h"
#include "scenarios/workloads/data_source.h"
#include "strategies/input/subset.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

constexpr int kFewest = 2, kMost = 4;      // of a lesson that wasn't told how many
constexpr double kMostWithoutCore = 0.05;  // of the time; past this, times are those of the other programs

}  // namespace

int device_count(const LessonOptions& options) {
  if (options.devices > 0) return options.devices;
  return std::clamp(harness::detect_topology().usable_cores(), kFewest, kMost);
}

Material material(const LessonOptions& options, std::int64_t rows, std::int64_t quick_rows) {
  const std::string source = !options.data.empty() ? options.data
                             : options.quick       ? "clusters"
                                                   : "fashion-mnist";
  strategies::SplitDataset data = load_data(source, options.seed);
  if (!data.test) {
    throw std::invalid_argument("the data '" + source + "' have no test rows; lessons need some");
  }
  data.train = strategies::first_rows(data.train, options.quick ? quick_rows : rows);
  if (options.quick) data.test = strategies::first_rows(data.test, quick_rows);
  return {find_workload(options.quick ? "mlp-small" : "mlp"), data};
}

strategies::Strategy on_devices(int devices) {
  return strategy_on(strategies::device_names(devices));
}

double time_without_core(const strategies::Strategy& strategy, const std::function<void()>& work) {
  std::vector<double> waited(static_cast<std::size_t>(strategy.replicas()));
  const auto read = [&](double sign) {
    strategy.run([&](const strategies::ReplicaContext& me) {
      waited[static_cast<std::size_t>(me.replica_id)] +=
          sign * harness::ThreadClock().now().core_wait_s.value_or(0);
    });
  };
  read(-1);
  const harness::SteadyClock clock;
  work();
  const double whole_s = clock.now_s();
  read(1);
  return *std::max_element(waited.begin(), waited.end()) / whole_s;
}

std::string why_not_timed(int devices, double time_without_core) {
  if (std::string note = oversubscription_note(devices); !note.empty()) return note;
  if (time_without_core <= kMostWithoutCore) return {};
  return text(
      "other programs had the replicas' cores for %.0f %% of the time; try again when the machine is quiet",
      100 * time_without_core);
}

Trial::Trial(const Material& material, const strategies::Strategy& strategy, int global_batch,
             const LessonOptions& options)
    : data_(material.data),
      model_(make_model(material.workload, *data_.train, strategy, {.optimizer = {}, .seed = options.seed})) {
  fit_.global_batch = global_batch;
  fit_.seed = options.seed;
}

void Trial::train_epoch() {
  strategies::History history;
  without_core_.push_back(time_without_core(model_.strategy(), [&] {
    const harness::SteadyClock clock;
    history = model_.fit(data_.train, fit_);
    rows_per_s_.push_back(static_cast<double>(data_.train->rows()) / clock.now_s());
  }));
  losses_.push_back(history.values.at("loss").front());
  accuracies_.push_back(history.values.at(kAccuracy).front());
  ++fit_.initial_epoch;
}

double Trial::without_core() const {
  const double sum = std::accumulate(without_core_.begin(), without_core_.end(), 0.0);
  return without_core_.empty() ? 0 : sum / static_cast<double>(without_core_.size());
}

std::vector<float> Trial::weights() const {
  std::vector<float> all;
  for (const strategies::NamedArray& array : model_.weights()) {
    all.insert(all.end(), array.values.begin(), array.values.end());
  }
  return all;
}

std::int64_t Trial::bytes_per_device() const {
  return static_cast<std::int64_t>(strategies::Session::planned_bytes(
      model_.strategy(), model_.network(), *data_.train, fit_.global_batch, model_.optimizer()));
}

harness::Verdict judge_faster(const std::string& what, const Trial& after, const Trial& before,
                              const LessonOptions& options) {
  constexpr const char* kCode = "FASTER";
  if (options.quick) return harness::skipped(kCode, what + ": a quick run is too short to judge speed");
  if (after.devices() == before.devices()) return harness::skipped(kCode, "one device against itself");
  const std::string why_not =
      why_not_timed(after.devices(), std::max(after.without_core(), before.without_core()));
  if (!why_not.empty()) return harness::skipped(kCode, why_not);
  const auto ratio = harness::paired_ratio_interval(after.rows_per_s(), before.rows_per_s());
  if (!ratio) return harness::skipped(kCode, what + ": one epoch alone has no interval; ask for more epochs");
  const std::string evidence = what + ": " + harness::format_interval(*ratio, 2) + " times the throughput";
  if (ratio->low > 1) return harness::passed(kCode, evidence);
  if (ratio->high < 1) return harness::failed(kCode, evidence);
  return harness::skipped(kCode, evidence + ": too uncertain on this machine at this moment");
}

std::string text(const char* format, ...) {
  std::array<char, 512> line{};
  va_list values;
  va_start(values, format);
  std::vsnprintf(line.data(), line.size(), format, values);
  va_end(values);
  return line.data();
}

}  // namespace mirrorscale::scenarios

#include "scenarios/lessons/material.h"

#include "harness/measure/clock.h"
#include "harness/measure/ratio.h"
#include "harness/output/format.h"
#include "harness/record/topology.h"
#include "scenarios/commands/devices.h"
#include "scenarios/workloads/data_source.h"
#include "strategies/input/subset.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

constexpr int kFewest = 2, kMost = 4;  // of a lesson that wasn't told how many

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

Trial::Trial(const Material& material, const strategies::Strategy& strategy, int global_batch,
             const LessonOptions& options)
    : data_(material.data),
      slots_(static_cast<int>(strategies::make_optimizer(material.workload.optimizer)->slots().size())),
      model_(make_model(material.workload, *data_.train, strategy, {.optimizer = {}, .seed = options.seed})) {
  fit_.global_batch = global_batch;
  fit_.seed = options.seed;
}

void Trial::train_epoch() {
  const harness::SteadyClock clock;
  const strategies::History history = model_.fit(data_.train, fit_);
  rows_per_s_.push_back(static_cast<double>(data_.train->rows()) / clock.now_s());
  losses_.push_back(history.values.at("loss").front());
  accuracies_.push_back(history.values.at(kAccuracy).front());
  ++fit_.initial_epoch;
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
      model_.strategy(), model_.network(), *data_.train, fit_.global_batch, slots_));
}

harness::Verdict judge_faster(const std::string& what, std::span<const double> after,
                              std::span<const double> before, int devices, const LessonOptions& options) {
  constexpr const char* kCode = "FASTER";
  if (options.quick) return harness::skipped(kCode, what + ": a quick run is too short to judge speed");
  if (const std::string note = oversubscription_note(devices); !note.empty())
    return harness::skipped(kCode, note);
  const auto ratio = harness::paired_ratio_interval(after, before);
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

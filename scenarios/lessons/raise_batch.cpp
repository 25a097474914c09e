#include "harness/check/equal_bits.h"
#include "harness/output/format.h"
#include "scenarios/lessons/lessons.h"
#include "scenarios/lessons/material.h"

namespace mirrorscale::scenarios {
namespace {

constexpr int kEpochs = 6, kBatch = 128, kQuickBatch = 32;  // of one device
constexpr std::int64_t kRows = 12000, kQuickRows = 512;
constexpr double kFlat =
    1.1;  // a device may hold more sums of subtrees than before, and fewer optimizer slots

std::string describe(const char* name, Trial& trial) {
  return text("%-26s %d x %4d rows a step: %8.0f rows/s, %s a device, test accuracy %.4f", name,
              trial.devices(), trial.global_batch() / trial.devices(), trial.rows_per_s().back(),
              harness::format_bytes(trial.bytes_per_device()).c_str(), trial.test_accuracy());
}

harness::Verdict judge_memory(const Trial& before, const Trial& raised) {
  const double ratio =
      static_cast<double>(raised.bytes_per_device()) / static_cast<double>(before.bytes_per_device());
  const std::string evidence = text("a device holds %s at %d x the batch, %s before: %.2f times",
                                    harness::format_bytes(raised.bytes_per_device()).c_str(),
                                    raised.global_batch() / before.global_batch(),
                                    harness::format_bytes(before.bytes_per_device()).c_str(), ratio);
  return ratio <= kFlat ? harness::passed("MEMORY", evidence) : harness::failed("MEMORY", evidence);
}

}  // namespace

LessonResult raise_batch(const LessonOptions& options) {
  const Material given = material(options, kRows, kQuickRows);
  const int devices = device_count(options), epochs = options.epochs > 0 ? options.epochs : kEpochs;
  const int batch = options.quick ? kQuickBatch : kBatch, large = batch * devices;
  Trial before(given, on_devices(1), batch, options), raised(given, on_devices(devices), large, options),
      alone(given, on_devices(1), large, options);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (Trial* trial : {&before, &raised, &alone}) trial->train_epoch();
  }
  LessonResult result;
  result.lines = {describe("one device", before), describe("all devices, larger batch", raised),
                  describe("one device, larger batch", alone)};
  const std::vector<double> raised_accuracy{raised.test_accuracy()}, alone_accuracy{alone.test_accuracy()};
  result.verdicts = {harness::check_equal_bits("ONE", "weights, against one device at that batch",
                                               alone.weights(), raised.weights()),
                     harness::check_equal_bits("ONE", "test accuracy, against one device at that batch",
                                               alone_accuracy, raised_accuracy),
                     judge_memory(before, raised),
                     judge_faster(text("%d devices with %d x the batch against one", devices, devices),
                                  raised, before, options)};
  return result;
}

}  // namespace mirrorscale::scenarios

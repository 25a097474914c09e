#include "harness/check/equal_bits.h"
#include "scenarios/lessons/lessons.h"
#include "scenarios/lessons/material.h"

namespace mirrorscale::scenarios {
namespace {

constexpr int kEpochs = 10, kBatch = 256;
constexpr std::int64_t kRows = 12000, kQuickRows = 512;

}  // namespace

LessonResult before_after(const LessonOptions& options) {
  const Material given = material(options, kRows, kQuickRows);
  const int devices = device_count(options), epochs = options.epochs > 0 ? options.epochs : kEpochs;
  Trial one(given, on_devices(1), kBatch, options), many(given, on_devices(devices), kBatch, options);
  LessonResult result;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    one.train_epoch();
    many.train_epoch();
    result.lines.push_back(
        text("epoch %2d/%d: one device, loss %.6f at %.0f rows/s; %d devices, loss %.6f at %.0f rows/s",
             epoch + 1, epochs, one.losses().back(), one.rows_per_s().back(), devices, many.losses().back(),
             many.rows_per_s().back()));
  }
  result.lines.push_back(text("test accuracy: one device %.4f, %d devices %.4f", one.test_accuracy(), devices,
                              many.test_accuracy()));
  result.verdicts = {
      harness::check_equal_bits("ONE", "loss of every epoch", one.losses(), many.losses()),
      harness::check_equal_bits("ONE", "accuracy of every epoch", one.accuracies(), many.accuracies()),
      harness::check_equal_bits("ONE", "weights after training", one.weights(), many.weights()),
      judge_faster(text("%d devices against one", devices), many, one, options)};
  return result;
}

}  // namespace mirrorscale::scenarios

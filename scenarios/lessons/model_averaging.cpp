#include "harness/check/equal_bits.h"
#include "scenarios/lessons/lessons.h"
#include "scenarios/lessons/material.h"

#include <algorithm>
#include <cmath>

namespace mirrorscale::scenarios {
namespace {

constexpr int kEpochs = 3, kBatch = 256;
constexpr std::int64_t kRows = 12000, kQuickRows = 512;

struct Distance {
  double relative = 0;  // |a - b| / |b|, Euclidean
  double largest = 0;   // of one weight
};

Distance distance(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0, norm = 0, largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    squares += d * d;
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
    largest = std::max(largest, std::abs(d));
  }
  return {std::sqrt(squares / norm), largest};
}

harness::Verdict judge_different(const Distance& averaged) {
  if (averaged.relative > 0) {
    return harness::passed("DIFFERENT",
                           text("averaged weights lie %.2f %% (Euclidean) from those of one device, one of "
                                "them by %.3g: separate training is another training",
                                100 * averaged.relative, averaged.largest));
  }
  return harness::failed("DIFFERENT",
                         "averaged weights are those of one device, to the bit: did the replicas really "
                         "train apart?");
}

}  // namespace

LessonResult model_averaging(const LessonOptions& options) {
  const Material given = material(options, kRows, kQuickRows);
  const int devices = device_count(options), epochs = options.epochs > 0 ? options.epochs : kEpochs;
  Trial one(given, on_devices(1), kBatch, options), mirrored(given, on_devices(devices), kBatch, options),
      averaged(given, strategies::ModelAveraging(strategies::device_names(devices)), kBatch, options);
  LessonResult result;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (Trial* trial : {&one, &mirrored, &averaged}) trial->train_epoch();
    const Distance apart = distance(averaged.weights(), one.weights());
    result.lines.push_back(
        text("epoch %d/%d: training loss %.4f on one device, %.4f mirrored, %.4f averaged; averaged "
             "weights %.2f %% away",
             epoch + 1, epochs, one.losses().back(), mirrored.losses().back(), averaged.losses().back(),
             100 * apart.relative));
  }
  result.lines.push_back(
      text("test accuracy: %.4f on one device, %.4f mirrored, %.4f averaged (%+.2f points)",
           one.test_accuracy(), mirrored.test_accuracy(), averaged.test_accuracy(),
           100 * (averaged.test_accuracy() - one.test_accuracy())));
  if (devices == 1) {
    result.verdicts = {
        harness::skipped("DIFFERENT", "one replica has nothing to average; ask for 2 or more devices")};
    return result;
  }
  result.verdicts = {harness::check_equal_bits("ONE", "mirrored weights, against one device", one.weights(),
                                               mirrored.weights()),
                     judge_different(distance(averaged.weights(), one.weights()))};
  return result;
}

}  // namespace mirrorscale::scenarios

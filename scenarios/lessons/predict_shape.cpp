#include "harness/check/shape.h"
#include "scenarios/lessons/lessons.h"
#include "scenarios/lessons/material.h"
#include "strategies/input/subset.h"
#include "strategies/input/synthetic.h"

namespace mirrorscale::scenarios {
namespace {

constexpr int kFeatures = 20, kOutputs = 10, kDevices = 8;
constexpr int kRowCounts[] = {1, 7, 63, 64, 65};
constexpr int kMostRows = 65;
constexpr int kBatches[] = {32, 256};  // several batches with a short last one, and all in one

strategies::Model softmax_model(const strategies::Strategy& strategy, std::uint64_t seed) {
  const auto scope = strategy.scope();
  return {kFeatures, {strategies::dense(kOutputs, "softmax")}, {.name = "softmax", .seed = seed}};
}

/// Each row predicted alone on one device: nothing can be mixed up.
std::vector<float> row_by_row(const strategies::DatasetPtr& data, std::uint64_t seed) {
  strategies::Model model = softmax_model(strategies::OneDevice(), seed);
  std::vector<float> expected;
  for (std::int64_t row = 0; row < data->rows(); ++row) {
    const auto alone = std::make_shared<strategies::Subset>(data, std::vector<std::int64_t>{row});
    const std::vector<float> values = model.predict(alone).values;
    expected.insert(expected.end(), values.begin(), values.end());
  }
  return expected;
}

}  // namespace

LessonResult predict_shape(const LessonOptions& options) {
  const auto data =
      strategies::make_clusters({.rows = {kMostRows, 0}, .features = kFeatures, .seed = options.seed}).train;
  const std::vector<float> expected = row_by_row(data, options.seed);
  LessonResult result;
  std::vector<harness::Verdict> shapes, orders;
  for (int devices = 1; devices <= kDevices; ++devices) {
    strategies::Model model = softmax_model(on_devices(devices), options.seed);
    std::string line = text("%d %s:", devices, devices == 1 ? "device" : "devices");
    for (const int rows : kRowCounts) {
      const auto wanted = std::span(expected).first(static_cast<std::size_t>(rows) * kOutputs);
      for (const int batch : kBatches) {
        const strategies::Predictions made = model.predict(strategies::first_rows(data, rows), batch);
        const std::string what = text("predict of %d rows on %d, batch %d", rows, devices, batch);
        shapes.push_back(harness::check_shape(what, {rows, kOutputs}, {made.rows, made.columns}));
        orders.push_back(harness::check_row_order(what, wanted, made.values, kOutputs));
        if (batch == kBatches[0]) {
          line += text(" (%d, %d) -> (%lld, %d)", rows, kFeatures, static_cast<long long>(made.rows),
                       made.columns);
        }
      }
    }
    result.lines.push_back(line);
  }
  const std::size_t looks = shapes.size();
  harness::Verdict shape = harness::combine(shapes), order = harness::combine(orders);
  if (shape.outcome == harness::Outcome::kPassed) {
    shape.evidence =
        text("%zu predictions on 1 to %d devices have a row of %d for every row", looks, kDevices, kOutputs);
  }
  if (order.outcome == harness::Outcome::kPassed) {
    order.evidence = text("%zu predictions hold, row by row, the bits of each row predicted alone", looks);
  }
  result.verdicts = {shape, order};
  return result;
}

}  // namespace mirrorscale::scenarios

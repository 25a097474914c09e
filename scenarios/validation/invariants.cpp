#include "scenarios/validation/invariants.h"

#include "harness/check/bound.h"
#include "harness/check/equal_bits.h"
#include "harness/check/shape.h"
#include "harness/check/shards.h"
#include "kernels/device_error.h"
#include "strategies/input/subset.h"

#include <algorithm>
#include <cmath>

namespace mirrorscale::scenarios {
namespace {

std::vector<harness::NamedValues> named(const std::vector<strategies::NamedArray>& arrays) {
  std::vector<harness::NamedValues> values;
  for (const auto& array : arrays) {
    const std::size_t columns = array.shape.size() == 2 ? static_cast<std::size_t>(array.shape[1]) : 0;
    values.push_back({array.name, array.values, columns});
  }
  return values;
}

std::vector<harness::RowRange> to_ranges(const std::vector<strategies::Range>& ranges) {
  std::vector<harness::RowRange> out;
  for (const auto& r : ranges) out.push_back({r.first, r.count});
  return out;
}

std::vector<double> flat(const std::vector<std::vector<double>>& rows) {
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

CellSpec on_one_device(CellSpec spec) {
  spec.devices = 1;
  return spec;
}

}  // namespace

const ShortRun& Yardsticks::one_device(const CellSpec& spec) {
  const CellSpec one = on_one_device(spec);
  const std::string key = one.key() + "/" + std::to_string(one.global_batch);
  const auto found = runs_.find(key);
  if (found != runs_.end()) return found->second;
  const ShortRunData rows = short_run_data(data_, one.global_batch);
  return runs_.emplace(key, run_short(one, make_strategy(one), rows).run).first->second;
}

std::vector<float> Yardsticks::row_by_row(const CellSpec& spec,
                                          const std::vector<strategies::NamedArray>& weights) const {
  const CellSpec one = on_one_device(spec);
  const ShortRunData rows = short_run_data(data_, one.global_batch);
  strategies::Model model = make_model(one, *rows.train, make_strategy(one));
  model.set_weights(weights);
  return model.predict(rows.test, 1).values;
}

harness::Verdict check_sharder(const CellSpec& spec, const strategies::Sharder& sharder) {
  const std::vector<std::int64_t> more{spec.global_batch, spec.global_batch / 2 + 1};
  const int full = spec.global_batch;
  const auto training = [&](std::int64_t rows, int replicas) {
    const int batch = std::max(full, static_cast<int>(rows));
    const strategies::BatchPlan plan = sharder.plan(static_cast<int>(rows), batch, replicas);
    std::vector<harness::RowRange> ranges;
    for (const auto& share : plan.shares) ranges.push_back({share.rows.first, share.rows.count});
    return ranges;
  };
  const auto rules = [&](std::int64_t rows) {
    return harness::ShardRule{strategies::micro_shard_rows(std::max(full, static_cast<int>(rows))),
                              std::nullopt};
  };
  const auto serving = [&](std::int64_t rows, int replicas) {
    return to_ranges(sharder.split(static_cast<int>(rows), replicas));
  };
  const std::vector<harness::Verdict> parts{harness::check_sharding(spec.devices, training, rules, more),
                                            harness::check_sharding(
                                                spec.devices, serving,
                                                [](std::int64_t) {
                                                  return harness::ShardRule{1, 1};
                                                },
                                                more)};
  return harness::combine(parts);
}

namespace {

harness::Verdict check_same_run(const char* code, const ShortRun& expected, const ShortRun& actual) {
  std::vector<harness::Verdict> parts{
      harness::check_equal_bits(code, named(expected.weights), named(actual.weights))};
  if (!expected.slots.empty()) {
    parts.push_back(harness::check_equal_bits(code, named(expected.slots), named(actual.slots)));
  }
  parts.push_back(harness::check_equal_bits(code, "loss of each step", expected.losses, actual.losses));
  const std::vector<double> metrics = flat(expected.metrics), ours = flat(actual.metrics);
  if (!metrics.empty())
    parts.push_back(harness::check_equal_bits(code, "metrics of each step", metrics, ours));
  std::vector<double> evaluation, our_evaluation;
  for (const auto& [name, value] : expected.evaluation) evaluation.push_back(value);
  for (const auto& [name, value] : actual.evaluation) our_evaluation.push_back(value);
  parts.push_back(harness::check_equal_bits(code, "evaluate", evaluation, our_evaluation));
  parts.push_back(harness::check_equal_bits(code, "predictions", expected.predictions.values,
                                            actual.predictions.values,
                                            static_cast<std::size_t>(expected.predictions.columns)));
  return harness::combine(parts);
}

/// Both runs against `expected` of the first, and a multiple of the oracle's bounds.
std::vector<harness::Verdict> check_within(const char* code, const Yardsticks::Oracle& oracle,
                                           const ShortRun& expected, const ShortRun& actual, double times) {
  const auto scaled = [times](std::vector<double> bounds) {
    for (double& bound : bounds) bound *= times;
    return bounds;
  };
  std::vector<harness::Verdict> parts;
  for (std::size_t p = 0; p < actual.weights.size(); ++p) {
    const auto& array = actual.weights[p];
    const std::vector<double> values(expected.weights[p].values.begin(), expected.weights[p].values.end());
    const std::size_t columns = array.shape.size() == 2 ? static_cast<std::size_t>(array.shape[1]) : 0;
    parts.push_back(harness::check_bound(code, array.name, values, scaled(oracle.weight_bounds[p]),
                                         array.values, columns));
  }
  parts.push_back(harness::check_bound(code, "loss of each step", expected.losses, scaled(oracle.loss_bounds),
                                       actual.losses));
  return parts;
}

}  // namespace

harness::Verdict check_one(const ShortRun& expected, const ShortRun& actual) {
  return check_same_run("ONE", expected, actual);
}

harness::Verdict check_other_backend(const ShortRun& cpu, const ShortRun& actual) {
  const harness::Verdict run = check_same_run("XBK", cpu, actual);
  if (cpu.weight_hash == actual.weight_hash) return run;
  return harness::failed("XBK", "weight hash " + actual.weight_hash + ", that of the cpu backend is " +
                                    cpu.weight_hash + "; " + run.evidence);
}

harness::Verdict check_one_within(const Yardsticks::Oracle& oracle, const ShortRun& expected,
                                  const ShortRun& actual) {
  if (!oracle.why_not.empty()) {
    return harness::skipped("ONE", "no bound to hold the difference to: " + oracle.why_not);
  }
  const harness::Verdict itself = check_reference(oracle, expected);
  if (itself.outcome == harness::Outcome::kFailed) {
    return harness::skipped("ONE",
                            "the run on one device breaks the bound of REF itself: " + itself.evidence);
  }
  return harness::combine(check_within("ONE", oracle, expected, actual, 2));
}

harness::Verdict check_reference(const Yardsticks::Oracle& oracle, const ShortRun& actual) {
  if (!oracle.why_not.empty()) return harness::skipped("REF", oracle.why_not);
  std::vector<harness::Verdict> parts;
  for (std::size_t p = 0; p < actual.weights.size(); ++p) {
    const auto& array = actual.weights[p];
    const std::size_t columns = array.shape.size() == 2 ? static_cast<std::size_t>(array.shape[1]) : 0;
    parts.push_back(harness::check_bound("REF", array.name, oracle.weights[p], oracle.weight_bounds[p],
                                         array.values, columns));
  }
  parts.push_back(
      harness::check_bound("REF", "loss of each step", oracle.losses, oracle.loss_bounds, actual.losses));
  return harness::combine(parts);
}

harness::Verdict check_predictions(const std::vector<float>& row_by_row, const ShortRun& run,
                                   std::int64_t rows) {
  const strategies::Predictions& p = run.predictions;
  const auto columns = static_cast<std::int64_t>(p.columns);
  const std::vector<harness::Verdict> parts{
      harness::check_shape(
          "predict", {rows, columns},
          {p.columns == 0 ? 0 : static_cast<std::int64_t>(p.values.size()) / columns, columns}),
      harness::check_row_order("predict", row_by_row, p.values, columns)};
  return harness::combine(parts);
}

harness::Verdict check_predictions_within(const Yardsticks::Predicted& expected, const ShortRun& run,
                                          std::int64_t rows) {
  const strategies::Predictions& p = run.predictions;
  const auto columns = static_cast<std::int64_t>(p.columns);
  const auto given = p.columns == 0 ? 0 : static_cast<std::int64_t>(p.values.size()) / columns;
  std::vector<harness::Verdict> parts{harness::check_shape("predict", {rows, columns}, {given, columns})};
  if (expected.why_not.empty()) {
    parts.push_back(harness::check_bound("SHP", "predict", expected.values, expected.bounds, p.values,
                                         static_cast<std::size_t>(p.columns)));
  }
  return harness::combine(parts);
}

namespace {

/// ONE; what has no room on one device can't be compared with it.
harness::Verdict compare_with_one_device(const CellSpec& spec, Yardsticks& yardsticks, const ShortRun& run) {
  try {
    const ShortRun& expected = yardsticks.one_device(spec);
    return spec.exact() ? check_one(expected, run) : check_one_within(yardsticks.oracle(spec), expected, run);
  } catch (const kernels::OutOfMemory& error) {
    if (spec.devices == 1) throw;
    return harness::skipped("ONE", std::string("one device has no room for this batch: ") + error.what());
  }
}

}  // namespace

CellVerdicts validate_cell(const CellSpec& spec, Yardsticks& yardsticks,
                           const strategies::EngineParts& parts) {
  CellVerdicts result;
  const strategies::Strategy strategy = make_strategy(spec, parts);
  result.verdicts.push_back(check_sharder(spec, *strategy.parts().sharder));
  const ShortRunData data = short_run_data(yardsticks.data(), spec.global_batch);
  const ObservedRun observed = run_short(spec, strategy, data);
  result.weight_hash = observed.run.weight_hash;
  for (const auto& [name, value] : observed.run.evaluation) {
    if (std::isfinite(value)) result.evaluation[name] = value;
  }
  harness::CoverageRule every_row_once;
  every_row_once.samples = data.train->rows();
  result.verdicts.push_back(harness::check_coverage(observed.ledger, every_row_once));
  result.verdicts.push_back(observed.mirrored);
  result.verdicts.push_back(compare_with_one_device(spec, yardsticks, observed.run));
  result.verdicts.push_back(check_reference(yardsticks.oracle(spec), observed.run));
  result.verdicts.push_back(check_metrics(spec, observed.run, *data.test));
  const std::int64_t test_rows = data.test->rows();
  if (!spec.exact()) {
    const Yardsticks::Predicted expected = yardsticks.predictions(spec, observed.run.weights);
    result.verdicts.push_back(check_predictions_within(expected, observed.run, test_rows));
    return result;
  }
  result.verdicts.push_back(
      check_predictions(yardsticks.row_by_row(spec, observed.run.weights), observed.run, test_rows));
  if (spec.backend == "cuda") {
    result.verdicts.push_back(check_other_backend(yardsticks.one_device(on_one_cpu(spec)), observed.run));
  }
  return result;
}

}  // namespace mirrorscale::scenarios

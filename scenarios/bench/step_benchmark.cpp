// A training step of a workload with Adam against what the cores can do in the same seconds, two devices
// against one, and what recording a step costs.   mirrorscale_bench_step [seconds a batch] [workload] [data]
#include "harness/gbench/interleaved.h"
#include "harness/measure/ratio.h"
#include "harness/output/format.h"
#include "harness/output/table.h"
#include "scenarios/cells/training_loop.h"
#include "scenarios/sweep/measure.h"
#include "scenarios/workloads/data_source.h"
#include "scenarios/workloads/workload.h"
#include "strategies/comm/placement.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

CellSpec cell_of(const std::string& workload, int devices, int global_batch, const std::string& data) {
  CellSpec cell;
  cell.workload = workload;
  cell.data = data;
  cell.optimizer = "adam";
  cell.devices = devices;
  cell.global_batch = global_batch;
  return cell;
}

/// Wall-clock time of steps that are recorded, over that of steps that are not, in alternating slices.
harness::Interval recording_cost(const strategies::DatasetPtr& data, const CellSpec& spec, double seconds) {
  const strategies::Strategy strategy = make_strategy(spec);
  strategies::Model recorded = make_model(spec, *data, strategy), bare = make_model(spec, *data, strategy);
  TrainingLoop loop(recorded, data, spec.global_batch, spec.seed);
  bare.session().start_training(data, spec.global_batch);
  const auto order = strategy.parts().shuffler->order(data->rows(), spec.seed, 0);
  const auto timed = [](auto&& work) {
    return [work](int steps) {
      const double start = strategies::now_s();
      work(steps);
      return strategies::now_s() - start;
    };
  };
  constexpr int kSteps = 10;
  harness::InterleavedRun run(
      {{"recorded", timed([&](int steps) { loop.run(steps); }), kSteps, 1},
       {"bare", timed([&](int steps) { bare.session().train(order, 0, steps); }), kSteps, 1}});
  run.run([&](harness::InterleavedRun& now) { return now.elapsed_s() < seconds; });
  const auto pairs = harness::pair_slices(run.timings()[1], run.timings()[0]);
  return *harness::paired_ratio_interval(pairs.first_samples_per_s, pairs.second_samples_per_s);
}

int bench(double seconds, const std::string& workload, const std::string& wanted) {
  const std::string source = wanted.empty() ? find_workload(workload).data : wanted;
  // A row of a sequence is as much work as many of plain features.
  const bool sequences = workload.starts_with("transformer");
  const std::vector<int> batches = sequences ? std::vector<int>{8, 32} : std::vector<int>{32, 256, 1024};
  const strategies::SplitDataset data = load_data(source, 1);
  const bool two = strategies::usable_units().size() >= 2;
  harness::Table table({{"global batch"},
                        {"1 device: step ms"},
                        {"samples/s"},
                        {"share of FMA peak"},
                        {"wait + optimizer share"},
                        {"2 devices / 1 [low, high]"}});
  for (const int batch : batches) {
    MeasureOptions options;
    options.stopping = {
        .relative_half_width = 0, .fewest_slices = 20, .most_slices = 100'000, .budget_s = seconds};
    std::vector<CellSpec> cells{cell_of(workload, 1, batch, source)};
    if (two) cells.push_back(cell_of(workload, 2, batch, source));
    const auto measured = measure_group(cells, data.train, options);
    for (const auto& cell : measured) {
      if (cell.failure) throw std::runtime_error(cell.failure->text);
      if (!cell.measurement) throw std::runtime_error("a cell was not measured");
    }
    const harness::Measurement& one = *measured[0].measurement;
    const double outside = one.phases_s.optimizer + one.phases_s.wait + one.phases_s.input;
    table.add_row({std::to_string(batch), harness::format_ms(one.step_p50_s),
                   harness::format_count(one.samples_per_s.value),
                   harness::format_percent(one.fma_peak_share.value_or(0)),
                   harness::format_percent(outside / one.step_p50_s),
                   two ? harness::format_interval(*measured[1].measurement->speedup) : "one core only"});
  }
  std::printf("%s", table.to_text().c_str());
  if (sequences) return 0;  // a step is too long for slices of several
  const harness::Interval cost = recording_cost(data.train, cell_of(workload, 1, 32, source), seconds);
  std::printf("recorded / bare step at batch 32: %s\n", harness::format_interval(cost, 4).c_str());
  return 0;
}

}  // namespace
}  // namespace mirrorscale::scenarios

int main(int argc, char** argv) {
  try {
    return mirrorscale::scenarios::bench(argc > 1 ? std::atof(argv[1]) : 10, argc > 2 ? argv[2] : "mlp",
                                         argc > 3 ? argv[3] : "");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "mirrorscale_bench_step: %s\n", e.what());
    return 3;
  }
}

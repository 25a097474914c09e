#include "scenarios/validation/short_run.h"

#include "harness/check/equal_bits.h"
#include "strategies/input/subset.h"

#include <algorithm>

namespace mirrorscale::scenarios {
namespace {

constexpr std::int64_t kTestRows = 257;
constexpr int kTestBatch = 48;  // 257 = 5 * 48 + 17: whole batches, and a short one

/// Writes the rows that each replica takes into a ledger.
class LedgerObserver final : public strategies::RowObserver {
 public:
  explicit LedgerObserver(harness::SampleLedger& ledger) : ledger_(ledger) {}
  void rows_taken(int replica, std::int64_t step, std::span<const std::int64_t> rows) override {
    ledger_.record(replica, 0, step, rows);
  }

 private:
  harness::SampleLedger& ledger_;
};

std::vector<std::vector<float>> arenas_of(const strategies::Session& session) {
  std::vector<std::vector<float>> arenas;
  for (int r = 0; r < session.strategy().replicas(); ++r) arenas.push_back(session.arena(r));
  return arenas;
}

/// Views of `arenas`, one a replica.
std::vector<harness::ReplicaValues> replica_values(const strategies::Session& session,
                                                   const std::vector<std::vector<float>>& arenas) {
  std::vector<harness::ReplicaValues> all;
  for (std::size_t r = 0; r < arenas.size(); ++r) {
    all.push_back({"replica " + std::to_string(r) + " (" + session.strategy().devices()[r] + ")",
                   {{"weights", arenas[r], 0}}});
  }
  return all;
}

}  // namespace

ShortRunData short_run_data(const strategies::SplitDataset& data, int global_batch, int whole) {
  const std::int64_t wanted = std::int64_t{global_batch} * whole + global_batch / 2 + 1;
  ShortRunData result;
  result.train = strategies::first_rows(data.train, std::min(wanted, data.train->rows()));
  const auto& test = data.test ? data.test : data.train;
  result.test = strategies::first_rows(test, std::min(kTestRows, test->rows()));
  result.global_batch = global_batch;
  result.steps = static_cast<int>((result.train->rows() + global_batch - 1) / global_batch);
  return result;
}

ObservedRun run_short(const CellSpec& spec, const strategies::Strategy& strategy, const ShortRunData& data) {
  strategies::Model model = make_model(spec, *data.train, strategy);
  strategies::Session& session = model.session();
  ObservedRun observed{{}, harness::SampleLedger(strategy.replicas()), {}};
  ShortRun& run = observed.run;
  run.initial_weights = model.weights();
  harness::MirrorJudge judge;
  judge.observe(replica_values(session, arenas_of(session)), 0);
  LedgerObserver observer(observed.ledger);
  session.set_observer(&observer);
  session.start_training(data.train, data.global_batch);
  const auto order = strategy.parts().shuffler->order(data.train->rows(), spec.seed, 0);
  for (int step = 0; step < data.steps; ++step) {
    const strategies::Pooled pooled = session.train(order, step, 1);
    run.losses.push_back(pooled.loss());
    std::vector<double> values;
    for (std::size_t m = 0; m < pooled.metric_sums.size(); ++m) values.push_back(pooled.metric(m));
    run.metrics.push_back(std::move(values));
    judge.observe(replica_values(session, arenas_of(session)), step + 1);
  }
  session.set_observer(nullptr);
  observed.mirrored = judge.verdict();
  run.weights = model.weights();
  run.slots = model.slots();
  run.weight_hash = model.weight_hash();
  strategies::EvaluateOptions evaluate;
  evaluate.global_batch = kTestBatch;
  run.evaluation = model.evaluate(data.test, evaluate);
  run.predictions = model.predict(data.test, kTestBatch);
  return observed;
}

}  // namespace mirrorscale::scenarios

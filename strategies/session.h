#pragma once
#include "strategies/engine/batch.h"
#include "strategies/engine/count_metric.h"
#include "strategies/engine/loss.h"
#include "strategies/engine/metric.h"
#include "strategies/engine/network.h"
#include "strategies/engine/optimizer.h"
#include "strategies/input/dataset.h"
#include "strategies/on_nan.h"
#include "strategies/strategy.h"
#include "strategies/timeline.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

/// Sees which rows each replica took in which step; called from the replicas' threads. For validation.
class RowObserver {
 public:
  virtual ~RowObserver() = default;
  virtual void rows_taken(int replica, std::int64_t step, std::span<const std::int64_t> rows) = 0;
};

/// Pooled sums over rows: loss and metrics are weighted sums, divided only when they are shown.
struct Pooled {
  double loss_sum = 0, weight_sum = 0;
  std::vector<double> metric_sums;
  std::int64_t rows = 0;
  std::vector<std::int64_t> counts = {};  // of the metrics of counts, see Tally; empty where there are none
  /// Seconds that the replica which waited longest had nothing to do but to wait for rows: on the host all of
  /// their copying; on a GPU that with no work enqueued behind it (what a sweep's phases measure is exact).
  double data_wait_s = 0;
  std::int64_t skipped = 0;  // steps, whose rows are in none of the sums; see OnNan

  /// `penalty` is added to the loss of every unit of weight.
  void add(const StepStatistics& statistics, std::int64_t batch_rows, double penalty = 0);
  void merge(const Pooled& other);
  void add_counts(std::span<const std::int64_t> more);
  /// 0 of no weight; NaN where that is since all steps were skipped.
  double loss() const { return mean(loss_sum); }
  double metric(std::size_t i) const { return mean(metric_sums[i]); }

 private:
  double mean(double sum) const {
    if (weight_sum != 0) return sum / weight_sum;
    return skipped > 0 ? std::numeric_limits<double>::quiet_NaN() : 0;
  }
};

/// Where a training is between two steps: what its next step depends on beside weights, slots and their
/// count. Order and randomness are keyed by these (DESIGN 7), so there is no generator to be kept.
struct TrainingPosition {
  int epoch = 0;
  std::int64_t batch = 0;  // of the epoch, the next to train; the number of batches where all are done
  Pooled sums;             // over the epoch's batches before
};

/// What a session trains with.
struct Objective {
  LossPtr loss;
  std::vector<MetricPtr> metrics;
  OptimizerPtr optimizer;
  std::vector<CountMetricPtr> counted = {};  // metrics of counts
};

/// Row-major predictions in input order: of each row the columns of all its positions, one after the other.
struct Predictions {
  std::int64_t rows = 0;
  int columns = 0;
  std::vector<float> values;
};

/// The replicas of one model at work: a thread, a backend and the arenas of each, made once. Runs steps;
/// knows nothing of epochs or callbacks.
class Session {
 public:
  /// Initial values are made once from `seed` and given to all replicas.
  Session(Strategy strategy, std::shared_ptr<const Network> network, std::uint64_t seed);
  ~Session();

  const Strategy& strategy() const { return strategy_; }
  const Network& network() const { return *network_; }
  /// Sets loss, metrics and optimizer; the slots and the step count start anew.
  void compile(Objective objective);

  /// Gets ready to train on `dataset` in batches of `global_batch` rows: plans, buffers, no more allocation
  /// after. Each replica works through its share in `accumulate` pieces, so that only one piece's activations
  /// take memory; in `exact` numerics no bit changes.
  void start_training(DatasetPtr dataset, int global_batch, int accumulate = 1,
                      OnNan on_nan = OnNan::kContinue);
  /// Trains the batches first .. first + count - 1 of an epoch whose rows come in `order` (all rows of the
  /// data set). Returns the pooled statistics; `each_step`, where given, gets those of every step, but for
  /// counts and data wait, which are of all the steps together; `timeline` must have room for `count` steps.
  /// With OnNan::kStop the steps end before the first that is not finite, and `each_step` has only those that
  /// were done. When a replica fails, the steps that all had finished are done and counted.
  Pooled train(std::span<const std::int64_t> order, std::int64_t first, std::int64_t count,
               Timeline* timeline = nullptr, std::vector<Pooled>* each_step = nullptr);
  /// What was not finite in the last step that was not applied.
  NonFinite non_finite() const;
  /// Optimizer steps done.
  std::int64_t steps() const;
  void set_observer(RowObserver* observer) { observer_ = observer; }

  /// Statistics of `rows` of a data set, in batches, added to `so_far`; the same bits for any batch and
  /// number of replicas, and in one call or several.
  Pooled evaluate(const DatasetPtr& dataset, std::span<const std::int64_t> rows, int global_batch,
                  Pooled so_far = {});
  Predictions predict(const DatasetPtr& dataset, int global_batch);

  /// Parameters of one replica, row-major; the same on all replicas of a mirrored strategy.
  std::vector<NamedArray> weights(int replica = 0) const;
  void set_weights(std::span<const NamedArray> arrays);
  /// The optimizer's slots, named "<parameter>/<slot>".
  std::vector<NamedArray> slots() const;
  /// Puts a training back to where weights(), slots() and steps() were read, on any number of replicas.
  /// Throws std::invalid_argument when an array is missing, surplus or of another shape.
  void restore(std::span<const NamedArray> weights, std::span<const NamedArray> slots, std::int64_t steps);
  /// A copy of a replica's flat arena of weights, to compare replicas bit by bit.
  std::vector<float> arena(int replica) const;
  /// Averages the replicas' weights (a tree over replicas, divided by their number) and gives them to all.
  void average_weights();
  /// l1 * sum |w| + l2 * sum w^2 over all penalised parameters.
  double penalty() const;
  /// Bytes of memory that a device of this session is planned to hold while training.
  static std::size_t planned_bytes(const Strategy& strategy, const Network& network, const Dataset& dataset,
                                   int global_batch, const Optimizer& optimizer,
                                   const Dataset* validation = nullptr, int accumulate = 1,
                                   OnNan on_nan = OnNan::kContinue);
  /// Bytes that the fullest device of this session holds now.
  std::size_t used_bytes() const;

 private:
  struct State;
  class Steps;
  void set_initial_slots();
  void write_slots(std::shared_ptr<const std::vector<std::vector<float>>> arenas);
  /// Throws std::invalid_argument for rows of another width, and for tokens that the first layer can't take.
  void check_features(const DatasetPtr& dataset);
  void check_answers(const Dataset& dataset) const;
  void check_steps(std::span<const std::int64_t> order, std::int64_t first, std::int64_t count,
                   const Timeline* timeline) const;
  void prepare_batches(std::vector<BatchBuffers> State::*batches, const Dataset& dataset, int rows,
                       int roots);

  Strategy strategy_;
  std::shared_ptr<const Network> network_;
  std::shared_ptr<State> state_;  // shared with running ranks, so that a rank left behind finds it alive
  RowObserver* observer_ = nullptr;
  std::weak_ptr<const Dataset> checked_;  // the last that check_features has found good
};

}  // namespace mirrorscale::strategies

// Training steps: what every replica's thread does, from the rows of its share to the new weights.
#include "strategies/session_state.h"
#include "strategies/trace/range.h"

#include <algorithm>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

/// The moments of one step, in order; each lap is the time since the one before.
class Stopwatch {
 public:
  double lap() {
    const double now = now_s();
    const double passed = now - last_;
    last_ = now;
    return passed;
  }
  double moment() const { return last_; }

 private:
  double last_ = now_s();
};

void load(const Dataset& dataset, std::span<const std::int64_t> rows, BatchBuffers& batch) {
  const TraceRange range("input");
  const int count = static_cast<int>(rows.size());
  dataset.copy_features(rows, batch.features(count));
  if (dataset.classes() > 0) dataset.copy_labels(rows, batch.labels());
  if (dataset.target_columns() > 0) dataset.copy_targets(rows, batch.values(count));
  if (dataset.weighted()) dataset.copy_weights(rows, batch.weights());
}

}  // namespace

void Pooled::add(const StepStatistics& statistics, std::int64_t batch_rows, double penalty) {
  loss_sum += static_cast<double>(statistics[StatisticsColumns::kLoss]) +
              penalty * static_cast<double>(statistics[StatisticsColumns::kWeight]);
  weight_sum += static_cast<double>(statistics[StatisticsColumns::kWeight]);
  for (std::size_t m = 0; m < metric_sums.size(); ++m) {
    metric_sums[m] += static_cast<double>(statistics[StatisticsColumns::kMetrics + m]);
  }
  rows += batch_rows;
}

void Pooled::merge(const Pooled& other) {
  loss_sum += other.loss_sum;
  weight_sum += other.weight_sum;
  for (std::size_t m = 0; m < metric_sums.size(); ++m) metric_sums[m] += other.metric_sums[m];
  rows += other.rows;
}

void Session::start_training(DatasetPtr dataset, int global_batch) {
  if (!state_->reducer) throw std::invalid_argument("[fit] the model is not compiled; call compile first");
  if (global_batch < 1) {
    throw std::invalid_argument("[fit] global batch is " + std::to_string(global_batch) +
                                "; needs at least 1");
  }
  if (dataset->rows() < 1)
    throw std::invalid_argument("[fit] data set '" + dataset->name() + "' has no rows");
  check_features(*dataset);
  const TargetShape shape{dataset->classes(), dataset->target_columns()};
  state_->objective.loss->check(network_->outputs(), shape);
  for (const auto& metric : state_->objective.metrics) metric->check(network_->outputs(), shape);

  state_->dataset = nullptr;  // until all is ready
  const int n = strategy_.replicas();
  const Sharder& sharder = *strategy_.parts().sharder;
  const auto rest = static_cast<int>(dataset->rows() % global_batch);
  const bool whole = dataset->rows() >= global_batch;
  state_->full = whole ? sharder.plan(global_batch, global_batch, n) : BatchPlan{};
  state_->last = rest != 0 ? sharder.plan(rest, global_batch, n) : state_->full;
  state_->global_batch = global_batch;
  int rows = 1;
  std::size_t roots = 1, all_roots = 1;
  for (const BatchPlan* plan : {&state_->full, &state_->last}) {
    std::size_t sum = 0;
    for (const auto& share : plan->shares) {
      rows = std::max(rows, share.rows.count);
      roots = std::max(roots, share.roots.size());
      sum += share.roots.size();
    }
    all_roots = std::max(all_roots, sum);
  }
  state_->most_roots = roots;
  prepare_batches(&State::training_batches, *dataset, rows, static_cast<int>(roots));
  strategy_.team().run(
      [state = state_, all_roots](Communicator& seat) { state->reducer->reserve(seat.rank(), all_roots); });
  state_->dataset = std::move(dataset);
}

void Session::check_steps(std::span<const std::int64_t> order, std::int64_t first, std::int64_t count,
                          const Timeline* timeline) const {
  if (!state_->dataset) throw std::logic_error("[session] train before start_training");
  const std::int64_t rows = state_->dataset->rows();
  if (static_cast<std::int64_t>(order.size()) != rows) {
    throw std::invalid_argument("[train] the order has " + std::to_string(order.size()) +
                                " rows; the data set has " + std::to_string(rows));
  }
  const std::int64_t batches = (rows + state_->global_batch - 1) / state_->global_batch;
  if (first < 0 || count < 0 || first > batches - count) {
    throw std::invalid_argument("[train] batches " + std::to_string(first) + " .. " +
                                std::to_string(first + count - 1) + " are asked for; an epoch has " +
                                std::to_string(batches) + " batches, counted from 0");
  }
  if (timeline != nullptr &&
      (timeline->replicas() != strategy_.replicas() || timeline->steps() < static_cast<std::size_t>(count))) {
    throw std::invalid_argument("[train] the timeline has room for " + std::to_string(timeline->steps()) +
                                " steps of " + std::to_string(timeline->replicas()) + " replicas, not for " +
                                std::to_string(count) + " of " + std::to_string(strategy_.replicas()));
  }
}

Pooled Session::train(std::span<const std::int64_t> order, std::int64_t first, std::int64_t count,
                      Timeline* timeline, std::vector<Pooled>* each_step) {
  check_steps(order, first, count, timeline);
  // What the ranks use is shared with them, so that one that is left behind finds it alive.
  struct Work {
    std::vector<std::int64_t> rows;  // of these steps, in order
    Pooled sums;
    std::vector<Pooled> each;
  };
  const auto work = std::make_shared<Work>();
  const auto begin = static_cast<std::size_t>(first * state_->global_batch);
  const auto wanted = static_cast<std::size_t>(count * state_->global_batch);
  const auto part = order.subspan(std::min(begin, order.size()), std::min(wanted, order.size() - begin));
  work->rows.assign(part.begin(), part.end());
  work->sums.metric_sums.resize(state_->objective.metrics.size());
  if (each_step != nullptr) work->each.assign(static_cast<std::size_t>(count), work->sums);
  strategy_.team().run([state = state_, work, first, count, timeline, done = steps(), observer = observer_,
                        normaliser = strategy_.parts().normaliser](Communicator& seat) {
    const int rank = seat.rank();
    Replica& replica = *state->replicas[static_cast<std::size_t>(rank)];
    BatchBuffers& batch = state->training_batches[static_cast<std::size_t>(rank)];
    const Objective& objective = state->objective;
    std::vector<GradientRoot> roots;
    roots.reserve(state->most_roots);
    seat.barrier("start of training steps");
    Stopwatch watch;
    if (timeline != nullptr) timeline->start(rank, watch.moment());
    for (std::int64_t i = 0; i < count; ++i) {
      const BatchPlan& plan = state->plan(first + i);
      const auto& share = plan.shares[static_cast<std::size_t>(rank)];
      StepMarks marks;
      if (share.rows.count > 0) {
        const auto rows = std::span<const std::int64_t>(work->rows)
                              .subspan(static_cast<std::size_t>(i * state->global_batch + share.rows.first),
                                       static_cast<std::size_t>(share.rows.count));
        if (observer != nullptr) observer->rows_taken(rank, done + i, rows);
        load(*state->dataset, rows, batch);
        marks.input_s = watch.lap();
        {
          const TraceRange range("forward");
          replica.forward(batch.features(share.rows.count));
          replica.judge(*objective.loss, objective.metrics, batch.targets(share.rows.count), true);
        }
        marks.forward_s = watch.lap();
        {
          const TraceRange range("backward");
          roots.resize(share.roots.size());
          for (std::size_t r = 0; r < share.roots.size(); ++r) {
            roots[r] = {share.roots[r].first - share.rows.first, share.roots[r].count,
                        replica.gradient(static_cast<int>(r))};
          }
          replica.backward(roots, plan.shard_rows);
        }
        marks.backward_s = watch.lap();
      }
      const double penalty =
          rank == 0 ? state->penalty() : 0;  // of the weights that this step's loss is about
      {
        const TraceRange range("wait");
        seat.barrier("gradients ready");
      }
      marks.wait_s = watch.lap();
      const ReductionStep step{rank,        seat,    state->replicas, plan, *objective.optimizer,
                               *normaliser, done + i};
      ReductionResult reduced;
      {
        const TraceRange range("reduce and update");
        reduced = state->reducer->reduce_and_update(step);
      }
      marks.reduction_s = reduced.reduction_s;
      marks.optimizer_s = watch.lap() - reduced.reduction_s;
      if (rank == 0) {
        work->sums.add(reduced.statistics, plan.rows, penalty);
        if (!work->each.empty())
          work->each[static_cast<std::size_t>(i)].add(reduced.statistics, plan.rows, penalty);
      }
      {
        const TraceRange range("wait");
        seat.barrier("weights written");
      }
      if (rank == 0) ++state->steps;
      marks.wait_s += watch.lap();
      marks.end_s = watch.moment();
      if (timeline != nullptr) timeline->at(rank, static_cast<std::size_t>(i)) = marks;
    }
  });
  if (each_step != nullptr) *each_step = std::move(work->each);
  return std::move(work->sums);
}

}  // namespace mirrorscale::strategies

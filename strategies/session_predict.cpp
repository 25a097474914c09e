// Evaluation and prediction: rows are independent of each other, so replicas need not meet.
#include "strategies/session_state.h"
#include "strategies/trace/range.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

constexpr std::int64_t kWindow = 1 << 16;  // rows whose statistics are kept at a time

int checked_batch(int global_batch, const char* what) {
  if (global_batch >= 1) return global_batch;
  throw std::invalid_argument(std::string("[") + what + "] global batch is " + std::to_string(global_batch) +
                              "; needs at least 1");
}

void copy_row(kernels::ConstMatrix from, int row, float* to) {
  for (int c = 0; c < from.columns; ++c) to[c] = from.at(row, c);
}

}  // namespace

Pooled Session::evaluate(const DatasetPtr& dataset, std::span<const std::int64_t> rows, int global_batch,
                         Pooled sums) {
  if (!state_->reducer)
    throw std::invalid_argument("[evaluate] the model is not compiled; call compile first");
  global_batch =
      std::max(1, static_cast<int>(std::min<std::int64_t>(checked_batch(global_batch, "evaluate"),
                                                          static_cast<std::int64_t>(rows.size()))));
  check_features(*dataset);
  const TargetShape shape{dataset->classes(), dataset->target_columns()};
  state_->objective.loss->check(network_->outputs(), shape);
  for (const auto& metric : state_->objective.metrics) metric->check(network_->outputs(), shape);
  const int n = strategy_.replicas();
  prepare_batches(&State::judged_batches, *dataset, (global_batch + n - 1) / n, 0);

  sums.metric_sums.resize(state_->objective.metrics.size());
  const auto all = static_cast<std::int64_t>(rows.size());
  const std::int64_t window = std::max<std::int64_t>(1, kWindow / global_batch) * global_batch;
  const auto kept = std::make_shared<std::vector<float>>();
  for (std::int64_t begin = 0; begin < all; begin += window) {
    const auto window_rows = rows.subspan(static_cast<std::size_t>(begin),
                                          static_cast<std::size_t>(std::min(window, all - begin)));
    // A copy, so that a rank that is left behind finds it alive.
    const auto shared =
        std::make_shared<const std::vector<std::int64_t>>(window_rows.begin(), window_rows.end());
    kept->assign(shared->size() * kernels::kPanel, 0.0F);
    strategy_.team().run([state = state_, dataset, shared, global_batch, kept,
                          sharder = strategy_.parts().sharder](Communicator& seat) {
      const auto rank = static_cast<std::size_t>(seat.rank());
      Replica& replica = *state->replicas[rank];
      BatchBuffers& batch = state->judged_batches[rank];
      const std::span<const std::int64_t> part = *shared;
      for (std::size_t at = 0; at < part.size(); at += static_cast<std::size_t>(global_batch)) {
        const auto count =
            static_cast<int>(std::min(part.size() - at, static_cast<std::size_t>(global_batch)));
        const Range mine = sharder->split(count, seat.size())[rank];
        if (mine.count == 0) continue;
        const std::size_t first = at + static_cast<std::size_t>(mine.first);
        const auto ids = part.subspan(first, static_cast<std::size_t>(mine.count));
        dataset->copy_features(ids, batch.features(mine.count));
        if (dataset->classes() > 0) dataset->copy_labels(ids, batch.labels());
        if (dataset->target_columns() > 0) dataset->copy_targets(ids, batch.values(mine.count));
        if (dataset->weighted()) dataset->copy_weights(ids, batch.weights());
        const TraceRange range("evaluate");
        replica.forward(batch.features(mine.count));
        replica.judge(*state->objective.loss, state->objective.metrics, batch.targets(mine.count), false);
        for (int r = 0; r < mine.count; ++r) {
          copy_row(replica.statistics(), r,
                   kept->data() + (first + static_cast<std::size_t>(r)) * kernels::kPanel);
        }
      }
    });
    // Row by row in double: the same sum for any batch and number of replicas.
    for (std::size_t r = 0; r < shared->size(); ++r) {
      StepStatistics row;
      std::copy_n(kept->data() + r * kernels::kPanel, kernels::kPanel, row.begin());
      sums.add(row, 1);
    }
  }
  return sums;
}

Predictions Session::predict(const DatasetPtr& dataset, int global_batch) {
  global_batch = std::max(
      1, static_cast<int>(std::min<std::int64_t>(checked_batch(global_batch, "predict"), dataset->rows())));
  const int n = strategy_.replicas();
  prepare_batches(&State::judged_batches, *dataset, (global_batch + n - 1) / n, 0);
  const auto result = std::make_shared<Predictions>();
  result->rows = dataset->rows();
  result->columns = network_->outputs();
  result->values.resize(static_cast<std::size_t>(result->rows) * static_cast<std::size_t>(result->columns));
  strategy_.team().run([state = state_, dataset, global_batch, result,
                        sharder = strategy_.parts().sharder](Communicator& seat) {
    const auto rank = static_cast<std::size_t>(seat.rank());
    Replica& replica = *state->replicas[rank];
    BatchBuffers& batch = state->judged_batches[rank];
    std::vector<std::int64_t> ids;
    for (std::int64_t at = 0; at < result->rows; at += global_batch) {
      const auto count = static_cast<int>(std::min<std::int64_t>(result->rows - at, global_batch));
      const Range mine = sharder->split(count, seat.size())[rank];
      if (mine.count == 0) continue;
      ids.resize(static_cast<std::size_t>(mine.count));
      std::iota(ids.begin(), ids.end(), at + mine.first);
      dataset->copy_features(ids, batch.features(mine.count));
      const TraceRange range("predict");
      replica.forward(batch.features(mine.count));
      for (int r = 0; r < mine.count; ++r) {
        copy_row(replica.output(), r,
                 result->values.data() + static_cast<std::size_t>(at + mine.first + r) *
                                             static_cast<std::size_t>(result->columns));
      }
    }
  });
  return std::move(*result);
}

}  // namespace mirrorscale::strategies

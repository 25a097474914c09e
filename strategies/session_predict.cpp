// Evaluation and prediction: rows are independent of each other, so replicas need not meet.
#include "strategies/session_state.h"
#include "strategies/trace/range.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

constexpr std::int64_t kWindow = 1 << 16;  // rows of results whose statistics are kept at a time

int checked_batch(int global_batch, const char* what) {
  if (global_batch >= 1) return global_batch;
  throw std::invalid_argument(std::string("[") + what + "] global batch is " + std::to_string(global_batch) +
                              "; needs at least 1");
}

/// `m` where the host can read it: itself, or a copy in `room`.
kernels::ConstMatrix on_host(kernels::Backend& backend, kernels::ConstMatrix m, std::vector<float>& room) {
  if (backend.info().on_host) return m;
  room.resize(static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.row_stride));
  backend.download(m.data, room.size(), room.data());
  return {room.data(), m.rows, m.columns, m.panel_stride, m.row_stride};
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
  check_features(dataset);
  check_answers(*dataset);
  const int n = strategy_.replicas();
  prepare_batches(&State::judged_batches, *dataset, (global_batch + n - 1) / n, 0);

  sums.metric_sums.resize(state_->objective.metrics.size());
  const auto all = static_cast<std::int64_t>(rows.size());
  const int positions = network_->out().rows();  // results of a row
  const std::int64_t window = std::max<std::int64_t>(1, kWindow / positions / global_batch) * global_batch;
  const auto kept = std::make_shared<std::vector<float>>();
  const auto tallies = std::make_shared<std::vector<Tally>>(state_->tallies());
  for (std::int64_t begin = 0; begin < all; begin += window) {
    const auto window_rows = rows.subspan(static_cast<std::size_t>(begin),
                                          static_cast<std::size_t>(std::min(window, all - begin)));
    // A copy, so that a rank that is left behind finds it alive.
    const auto shared =
        std::make_shared<const std::vector<std::int64_t>>(window_rows.begin(), window_rows.end());
    const auto of_row = static_cast<std::size_t>(positions) * kernels::kPanel;
    kept->assign(shared->size() * of_row, 0.0F);
    State::run(strategy_, state_,
               [dataset, shared, global_batch, kept, of_row, tallies, sharder = strategy_.parts().sharder](
                   State& state, Communicator& seat) {
                 const auto rank = static_cast<std::size_t>(seat.rank());
                 Replica& replica = *state.replicas[rank];
                 BatchBuffers& batch = state.judged_batches[rank];
                 std::vector<float> room;
                 const std::span<const std::int64_t> part = *shared;
                 for (std::size_t at = 0; at < part.size(); at += static_cast<std::size_t>(global_batch)) {
                   const auto count =
                       static_cast<int>(std::min(part.size() - at, static_cast<std::size_t>(global_batch)));
                   const Range mine = sharder->split(count, seat.size())[rank];
                   if (mine.count == 0) continue;
                   const std::size_t first = at + static_cast<std::size_t>(mine.first);
                   const auto ids = part.subspan(first, static_cast<std::size_t>(mine.count));
                   State::load(*dataset, ids, batch, 0);
                   const TraceRange range("evaluate");
                   const auto arrived = batch.receive(0, mine.count);
                   replica.forward(arrived.features);
                   replica.judge(*state.objective.loss, state.objective.metrics, arrived.targets, false);
                   if (!tallies->empty())
                     (*tallies)[rank].add(replica.backend(), replica.output(), arrived.targets);
                   batch.done(0);
                   const kernels::ConstMatrix statistics =
                       on_host(replica.backend(), replica.statistics(), room);
                   for (int r = 0; r < statistics.rows; ++r) {
                     copy_row(statistics, r,
                              kept->data() + first * of_row + static_cast<std::size_t>(r) * kernels::kPanel);
                   }
                 }
               });
    // One by one in double: the same sum for any batch and number of replicas.
    for (std::size_t at = 0; at < kept->size(); at += kernels::kPanel) {
      StepStatistics result;
      std::copy_n(kept->data() + at, kernels::kPanel, result.begin());
      sums.add(result, at % of_row == 0 ? 1 : 0);
    }
  }
  for (const Tally& tally : *tallies) sums.add_counts(tally.counts());
  return sums;
}

Predictions Session::predict(const DatasetPtr& dataset, int global_batch) {
  global_batch = std::max(
      1, static_cast<int>(std::min<std::int64_t>(checked_batch(global_batch, "predict"), dataset->rows())));
  check_features(dataset);
  const int n = strategy_.replicas();
  prepare_batches(&State::judged_batches, *dataset, (global_batch + n - 1) / n, 0);
  const auto result = std::make_shared<Predictions>();
  result->rows = dataset->rows();
  const int positions = network_->out().rows();
  result->columns = network_->outputs() * positions;
  result->values.resize(static_cast<std::size_t>(result->rows) * static_cast<std::size_t>(result->columns));
  State::run(
      strategy_, state_,
      [dataset, global_batch, result, sharder = strategy_.parts().sharder](State& state, Communicator& seat) {
        const auto rank = static_cast<std::size_t>(seat.rank());
        Replica& replica = *state.replicas[rank];
        BatchBuffers& batch = state.judged_batches[rank];
        std::vector<float> room;
        std::vector<std::int64_t> ids;
        for (std::int64_t at = 0; at < result->rows; at += global_batch) {
          const auto count = static_cast<int>(std::min<std::int64_t>(result->rows - at, global_batch));
          const Range mine = sharder->split(count, seat.size())[rank];
          if (mine.count == 0) continue;
          ids.resize(static_cast<std::size_t>(mine.count));
          std::iota(ids.begin(), ids.end(), at + mine.first);
          State::load(*dataset, ids, batch, 0);
          const TraceRange range("predict");
          replica.forward(batch.receive(0, mine.count).features);
          batch.done(0);
          const kernels::ConstMatrix output = on_host(replica.backend(), replica.output(), room);
          float* const mine_begin = result->values.data() + static_cast<std::size_t>(at + mine.first) *
                                                                static_cast<std::size_t>(result->columns);
          for (int r = 0; r < output.rows; ++r)
            copy_row(output, r,
                     mine_begin + static_cast<std::size_t>(r) * static_cast<std::size_t>(output.columns));
        }
      });
  return std::move(*result);
}

}  // namespace mirrorscale::strategies

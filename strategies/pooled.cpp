// Statistics of many batches.
#include "strategies/session.h"

#include <algorithm>
#include <stdexcept>

namespace mirrorscale::strategies {

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
  data_wait_s += other.data_wait_s;
  add_counts(other.counts);
  skipped += other.skipped;
}

void Pooled::add_counts(std::span<const std::int64_t> more) {
  counts.resize(std::max(counts.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) {
    if (__builtin_add_overflow(counts[i], more[i], &counts[i]))
      throw std::runtime_error("[metric] the sample weights of all rows sum up to more than 2^33");
  }
}

}  // namespace mirrorscale::strategies

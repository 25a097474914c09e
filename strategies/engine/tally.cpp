#include "strategies/engine/tally.h"

#include <cstddef>
#include <cstring>
#include <utility>

namespace mirrorscale::strategies {
namespace {

using kernels::Backend;
using kernels::ConstMatrix;

ConstMatrix copied(Backend& backend, ConstMatrix m, std::vector<float>& room) {
  if (!m) return m;
  room.resize(static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.row_stride));
  backend.download(m.data, room.size(), room.data());
  return {room.data(), m.rows, m.columns, m.panel_stride, m.row_stride};
}

const float* copied(Backend& backend, const float* values, int rows, std::vector<float>& room) {
  if (values == nullptr) return nullptr;
  room.resize(static_cast<std::size_t>(rows));
  backend.download(values, room.size(), room.data());
  return room.data();
}

}  // namespace

Tally::Tally(std::vector<CountMetricPtr> metrics, int outputs)
    : metrics_(std::move(metrics)), outputs_(outputs) {
  std::size_t all = 0;
  for (const CountMetricPtr& metric : metrics_) all += metric->cells(outputs);
  counts_.resize(all);
}

void Tally::add(Backend& backend, ConstMatrix y, const Targets& targets) {
  Targets t = targets;
  if (!backend.info().on_host) {
    y = copied(backend, y, y_);
    t.values = copied(backend, t.values, values_);
    t.weights = copied(backend, t.weights, y.rows, weights_);
    if (t.labels != nullptr) {
      copied(backend, reinterpret_cast<const float*>(t.labels), y.rows, labels_);
      label_numbers_.resize(labels_.size());
      std::memcpy(label_numbers_.data(), labels_.data(), labels_.size() * sizeof(float));
      t.labels = label_numbers_.data();
    }
  }
  std::size_t at = 0;
  for (const CountMetricPtr& metric : metrics_) {
    const std::size_t cells = metric->cells(outputs_);
    metric->count(y, t, std::span(counts_).subspan(at, cells));
    at += cells;
  }
}

std::vector<std::int64_t> Tally::part(std::span<const CountMetricPtr> metrics, std::size_t i, int outputs,
                                      std::span<const std::int64_t> counts) {
  std::size_t at = 0;
  for (std::size_t m = 0; m < i; ++m) at += metrics[m]->cells(outputs);
  const std::size_t cells = metrics[i]->cells(outputs);
  if (counts.empty()) return std::vector<std::int64_t>(cells);
  const auto mine = counts.subspan(at, cells);
  return {mine.begin(), mine.end()};
}

}  // namespace mirrorscale::strategies

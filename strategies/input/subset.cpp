#include "strategies/input/subset.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace mirrorscale::strategies {
namespace {

constexpr std::size_t kChunk = 256;  // rows translated at a time, on the stack: a step allocates nothing

/// Calls copy(rows of the base, index of the first of them within `wanted`) chunk by chunk.
template <class Copy>
void translate(const std::vector<std::int64_t>& table, std::span<const std::int64_t> wanted, Copy copy) {
  std::array<std::int64_t, kChunk> rows{};
  for (std::size_t done = 0; done < wanted.size(); done += kChunk) {
    const std::size_t count = std::min(kChunk, wanted.size() - done);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t row = wanted[done + i];
      if (row < 0 || row >= static_cast<std::int64_t>(table.size())) {
        throw std::invalid_argument("[subset] row " + std::to_string(row) + "; expected 0 .. " +
                                    std::to_string(table.size() - 1));
      }
      rows[i] = table[static_cast<std::size_t>(row)];
    }
    copy(std::span<const std::int64_t>(rows.data(), count), done);
  }
}

kernels::Matrix part_of(kernels::Matrix x, std::size_t first, std::span<const std::int64_t> rows) {
  return x.slice_rows(static_cast<int>(first), static_cast<int>(rows.size()));
}

void check_height(kernels::Matrix x, std::span<const std::int64_t> rows) {
  if (x.rows != static_cast<int>(rows.size())) {
    throw std::invalid_argument("[subset] the matrix has " + std::to_string(x.rows) + " rows; expected " +
                                std::to_string(rows.size()));
  }
}

}  // namespace

Subset::Subset(DatasetPtr base, std::vector<std::int64_t> rows)
    : base_(std::move(base)), rows_(std::move(rows)) {
  if (rows_.empty()) throw std::invalid_argument("[subset] no rows; expected 1 or more");
  for (const std::int64_t row : rows_) {
    if (row < 0 || row >= base_->rows()) {
      throw std::invalid_argument("[subset] row " + std::to_string(row) + " of data set '" + base_->name() +
                                  "'; expected 0 .. " + std::to_string(base_->rows() - 1));
    }
  }
}

void Subset::copy_features(std::span<const std::int64_t> rows, kernels::Matrix x) const {
  check_height(x, rows);
  translate(rows_, rows,
            [&](auto of_base, std::size_t at) { base_->copy_features(of_base, part_of(x, at, of_base)); });
}

void Subset::copy_labels(std::span<const std::int64_t> rows, int* labels) const {
  translate(rows_, rows, [&](auto of_base, std::size_t at) {
    base_->copy_labels(of_base, labels + at * static_cast<std::size_t>(labels_per_row()));
  });
}

void Subset::copy_targets(std::span<const std::int64_t> rows, kernels::Matrix t) const {
  check_height(t, rows);
  translate(rows_, rows,
            [&](auto of_base, std::size_t at) { base_->copy_targets(of_base, part_of(t, at, of_base)); });
}

void Subset::copy_weights(std::span<const std::int64_t> rows, float* weights) const {
  translate(rows_, rows, [&](auto of_base, std::size_t at) { base_->copy_weights(of_base, weights + at); });
}

DatasetPtr first_rows(DatasetPtr base, std::int64_t count) {
  if (count < 1)
    throw std::invalid_argument("[first_rows] " + std::to_string(count) + " rows; expected 1 or more");
  if (count >= base->rows()) return base;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return std::make_shared<Subset>(std::move(base), std::move(rows));
}

}  // namespace mirrorscale::strategies

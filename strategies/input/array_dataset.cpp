#include "strategies/input/array_dataset.h"

#include "strategies/input/data_error.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace mirrorscale::strategies {
namespace {

using kernels::kPanel;
constexpr std::size_t kCacheLineBytes = 64;
constexpr std::size_t kRowsAhead = 2;  // rows whose bytes are fetched while others are converted

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what;
}

void check_finite(const std::string& source, const char* what, std::span<const float> values, int columns) {
  const auto bad = std::find_if_not(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  if (bad == values.end()) return;
  const auto at = bad - values.begin();
  throw DataError(source,
                  std::to_string(*bad) + " in row " + std::to_string(at / columns) + ", column " +
                      std::to_string(at % columns) + " of the " + what + " (both counted from 0)",
                  "finite numbers only");
}

/// Rows are scattered over memory: each begins before the hardware knows where the next one lies.
void fetch_ahead(const void* row, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kCacheLineBytes) {
    __builtin_prefetch(static_cast<const char*>(row) + at);
  }
}

void convert(const float* from, int count, float* to, const std::array<float, 256>& /*of_byte*/) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
}

void convert(const std::uint8_t* from, int count, float* to, const std::array<float, 256>& of_byte) {
  for (int c = 0; c < count; ++c) to[c] = of_byte[from[c]];
}

/// Row-major to the layout of x.
template <class T>
void copy_rows(const T* values, std::span<const std::int64_t> rows, const std::array<float, 256>& of_byte,
               kernels::Matrix x) {
  const auto row_values = static_cast<std::ptrdiff_t>(x.columns);
  const int width = x.row_stride;  // of a panel, or of all columns
  const int whole = x.columns / width, rest = x.columns % width;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kRowsAhead < rows.size()) {
      fetch_ahead(values + rows[i + kRowsAhead] * row_values,
                  static_cast<std::size_t>(x.columns) * sizeof(T));
    }
    const T* from = values + rows[i] * row_values;
    float* to = x.data + i * static_cast<std::size_t>(width);
    for (int p = 0; p < whole; ++p, from += width, to += x.panel_stride) convert(from, width, to, of_byte);
    if (rest > 0) {
      convert(from, rest, to, of_byte);
      std::fill(to + rest, to + width, 0.0F);
    }
  }
}

void check_shape(const char* op, std::span<const std::int64_t> rows, int columns, const kernels::Matrix& x) {
  if (x.rows == static_cast<int>(rows.size()) && x.columns == columns) return;
  throw std::invalid_argument("[" + std::string(op) + "] the matrix is [" + std::to_string(x.rows) + ", " +
                              std::to_string(x.columns) + "]; expected [" + std::to_string(rows.size()) +
                              ", " + std::to_string(columns) + "]");
}

}  // namespace

ArrayDataset::ArrayDataset(ArrayContents contents) : contents_(std::move(contents)) {
  if (contents_.values_source.empty()) contents_.values_source = contents_.name;
  if (contents_.answers_source.empty()) contents_.answers_source = contents_.name;
  if (contents_.image.channels == 0) contents_.image = {1, 1, contents_.features};
  check_values();
  check_answers();
  for (std::size_t byte = 0; byte < of_byte_.size(); ++byte) {
    of_byte_[byte] = static_cast<float>(byte) / contents_.byte_divisor;
  }
}

void ArrayDataset::check_values() {
  const std::string& source = contents_.values_source;
  const std::size_t count = std::visit([](const auto& values) { return values.size(); }, contents_.values);
  if (contents_.features < 1) throw DataError(source, counted(0, "features a row"), "1 or more");
  const auto features = static_cast<std::size_t>(contents_.features);
  if (count == 0) throw DataError(source, "0 rows", "1 or more");
  if (count % features != 0) {
    throw DataError(source, counted(count, "values"), "whole rows of " + counted(features, "features"));
  }
  rows_ = static_cast<std::int64_t>(count / features);
  std::visit(
      [&](const auto& values) {
        if constexpr (std::is_same_v<typename std::decay_t<decltype(values)>::value_type, float>)
          check_finite(source, "features", {values.data(), values.size()}, contents_.features);
      },
      contents_.values);
}

void ArrayDataset::check_answers() {
  const std::string& source = contents_.answers_source;
  const auto rows = static_cast<std::size_t>(rows_);
  const auto check_count = [&](std::size_t count, std::size_t expected, const char* what) {
    if (count != expected) {
      throw DataError(
          source, counted(count, what),
          counted(expected, what) + " for the " + counted(rows, "rows of ") + contents_.values_source);
    }
  };
  if (!contents_.labels.empty() && !contents_.targets.empty()) {
    throw DataError(source, "labels and targets", "one of the two");
  }
  if (!contents_.labels.empty() || contents_.classes != 0) {
    check_count(contents_.labels.size(), rows, "labels");
    const int largest = *std::max_element(contents_.labels.begin(), contents_.labels.end());
    if (contents_.classes == 0) {
      // Every class is an output of the model: a wild label must not make a model of its size.
      if (largest > 1000 && static_cast<std::size_t>(largest) > 10 * rows) {
        const auto row =
            std::max_element(contents_.labels.begin(), contents_.labels.end()) - contents_.labels.begin();
        throw DataError(source,
                        "label " + std::to_string(largest) + " in row " + std::to_string(row) +
                            " (counted from 0) of " + std::to_string(rows),
                        "class numbers from 0 on without large gaps");
      }
      contents_.classes = std::max(std::min(largest, std::numeric_limits<int>::max() - 1), 0) + 1;
    }
    for (std::size_t row = 0; row < rows; ++row) {
      const int label = contents_.labels[row];
      if (label >= 0 && label < contents_.classes) continue;
      throw DataError(
          source, "label " + std::to_string(label) + " in row " + std::to_string(row) + " (counted from 0)",
          "0 .. " + std::to_string(contents_.classes - 1));
    }
  }
  if (!contents_.targets.empty() || contents_.target_columns != 0) {
    if (contents_.target_columns < 1) throw DataError(source, "targets in 0 columns", "1 column or more");
    check_count(contents_.targets.size(), rows * static_cast<std::size_t>(contents_.target_columns),
                "targets");
    check_finite(source, "targets", contents_.targets, contents_.target_columns);
  }
  if (!contents_.weights.empty()) {
    check_count(contents_.weights.size(), rows, "sample weights");
    check_finite(source, "sample weights", contents_.weights, 1);
    const auto least = std::min_element(contents_.weights.begin(), contents_.weights.end());
    if (*least < 0) {
      throw DataError(source,
                      "sample weight " + std::to_string(*least) + " in row " +
                          std::to_string(least - contents_.weights.begin()) + " (counted from 0)",
                      "0 or more");
    }
  }
}

void ArrayDataset::check_rows(const char* op, std::span<const std::int64_t> rows) const {
  for (const std::int64_t row : rows) {
    if (row >= 0 && row < rows_) continue;
    throw std::invalid_argument("[" + std::string(op) + "] row " + std::to_string(row) + " of data set '" +
                                name() + "'; expected 0 .. " + std::to_string(rows_ - 1));
  }
}

void ArrayDataset::copy_features(std::span<const std::int64_t> rows, kernels::Matrix x) const {
  check_rows("copy_features", rows);
  check_shape("copy_features", rows, features(), x);
  std::visit([&](const auto& values) { copy_rows(values.data(), rows, of_byte_, x); }, contents_.values);
}

void ArrayDataset::copy_labels(std::span<const std::int64_t> rows, int* labels) const {
  if (classes() == 0) throw std::logic_error("[copy_labels] data set '" + name() + "' has no labels");
  check_rows("copy_labels", rows);
  for (const std::int64_t row : rows) *labels++ = contents_.labels[static_cast<std::size_t>(row)];
}

void ArrayDataset::copy_targets(std::span<const std::int64_t> rows, kernels::Matrix t) const {
  if (target_columns() == 0)
    throw std::logic_error("[copy_targets] data set '" + name() + "' has no targets");
  check_rows("copy_targets", rows);
  check_shape("copy_targets", rows, target_columns(), t);
  copy_rows(contents_.targets.data(), rows, of_byte_, t);
}

void ArrayDataset::copy_weights(std::span<const std::int64_t> rows, float* weights) const {
  if (!weighted()) return Dataset::copy_weights(rows, weights);
  check_rows("copy_weights", rows);
  for (const std::int64_t row : rows) *weights++ = contents_.weights[static_cast<std::size_t>(row)];
}

}  // namespace mirrorscale::strategies

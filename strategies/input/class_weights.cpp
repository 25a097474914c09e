#include "strategies/input/class_weights.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace mirrorscale::strategies {
namespace {

constexpr std::int64_t kChunk = 4096;  // rows looked at together

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument("[class weights] " + why);
}

/// Calls look(numbers of the rows) for all rows of a data set, chunk by chunk.
template <class Look>
void for_all_rows(const Dataset& data, Look look) {
  std::vector<std::int64_t> rows;
  for (std::int64_t first = 0; first < data.rows(); first += kChunk) {
    rows.resize(static_cast<std::size_t>(std::min(kChunk, data.rows() - first)));
    std::iota(rows.begin(), rows.end(), first);
    look(std::span<const std::int64_t>(rows));
  }
}

int class_of(const kernels::Matrix& targets, int row, std::int64_t number) {
  if (targets.columns == 1) {
    const float value = targets.at(row, 0);
    if (value >= 0 && value < 0x1p24F && value == std::floor(value)) return static_cast<int>(value);
    refuse("row " + std::to_string(number) + " has target " + std::to_string(value) +
           ", which is no class; expected whole numbers from 0 on");
  }
  int best = 0;
  for (int c = 1; c < targets.columns; ++c) {
    if (targets.at(row, c) > targets.at(row, best)) best = c;
  }
  return best;
}

std::vector<int> classes_of(const Dataset& data) {
  std::vector<int> classes(static_cast<std::size_t>(data.rows()));
  int* next = classes.data();
  const int columns = data.target_columns();
  std::vector<float> room(data.classes() > 0 ? 0 : kernels::activation_size(kChunk, columns));
  for_all_rows(data, [&](std::span<const std::int64_t> rows) {
    if (data.classes() > 0) {
      data.copy_labels(rows, next);
      next += rows.size();
      return;
    }
    const kernels::Matrix targets = kernels::activation_view(kernels::Layout::kPanels, room.data(),
                                                             static_cast<int>(rows.size()), columns, kChunk);
    data.copy_targets(rows, targets);
    for (int r = 0; r < targets.rows; ++r) *next++ = class_of(targets, r, rows[static_cast<std::size_t>(r)]);
  });
  return classes;
}

class ClassWeighted final : public Dataset {
 public:
  ClassWeighted(DatasetPtr base, std::vector<float> factors)
      : base_(std::move(base)), factors_(std::move(factors)) {}

  const std::string& name() const override { return base_->name(); }
  std::int64_t rows() const override { return base_->rows(); }
  int features() const override { return base_->features(); }
  RowImage image() const override { return base_->image(); }
  int classes() const override { return base_->classes(); }
  int target_columns() const override { return base_->target_columns(); }
  bool weighted() const override { return true; }
  bool synthetic() const override { return base_->synthetic(); }
  void copy_features(std::span<const std::int64_t> rows, kernels::Matrix x) const override {
    base_->copy_features(rows, x);
  }
  void copy_labels(std::span<const std::int64_t> rows, int* labels) const override {
    base_->copy_labels(rows, labels);
  }
  void copy_targets(std::span<const std::int64_t> rows, kernels::Matrix t) const override {
    base_->copy_targets(rows, t);
  }
  void copy_weights(std::span<const std::int64_t> rows, float* weights) const override {
    if (base_->weighted()) {
      base_->copy_weights(rows, weights);
    } else {
      std::fill_n(weights, rows.size(), 1.0F);
    }
    for (const std::int64_t row : rows) *weights++ *= factors_[static_cast<std::size_t>(row)];
  }

 private:
  const DatasetPtr base_;
  const std::vector<float> factors_;  // of each row
};

template <class T>
bool read_number(std::string_view text, T& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size();
}

}  // namespace

ClassWeights parse_class_weights(std::span<const std::string> texts) {
  ClassWeights weights;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    int of = 0;
    float weight = 0;
    if (equals == std::string::npos || !read_number(std::string_view(text).substr(0, equals), of) ||
        !read_number(std::string_view(text).substr(equals + 1), weight))
      refuse("'" + text + "' is no class=weight; expected something like 3=2.5");
    if (!weights.emplace(of, weight).second) refuse("class " + std::to_string(of) + " is there twice");
  }
  return weights;
}

DatasetPtr with_class_weights(DatasetPtr base, const ClassWeights& weights) {
  if (base->labels_per_row() > 1) {
    refuse("data set '" + base->name() + "' has " + std::to_string(base->labels_per_row()) +
           " labels a row; a row's weight can't be that of several classes (Keras refuses it, too)");
  }
  if (base->classes() == 0 && base->target_columns() == 0)
    refuse("data set '" + base->name() + "' has neither labels nor targets");
  const std::vector<int> classes = classes_of(*base);
  const int last = base->classes() > 0          ? base->classes() - 1
                   : base->target_columns() > 1 ? base->target_columns() - 1
                                                : *std::max_element(classes.begin(), classes.end());
  std::vector<float> of_class(static_cast<std::size_t>(last) + 1, 1.0F);
  for (const auto& [of, weight] : weights) {
    if (of < 0 || of > last) {
      refuse("there is no class " + std::to_string(of) + " in data set '" + base->name() +
             "'; its classes are 0 .. " + std::to_string(last));
    }
    if (!std::isfinite(weight) || weight < 0)
      refuse("class " + std::to_string(of) + " has weight " + std::to_string(weight) + "; needs 0 or more");
    of_class[static_cast<std::size_t>(of)] = weight;
  }
  std::vector<float> factors;
  factors.reserve(classes.size());
  for (const int of : classes) factors.push_back(of_class[static_cast<std::size_t>(of)]);
  return std::make_shared<ClassWeighted>(std::move(base), std::move(factors));
}

}  // namespace mirrorscale::strategies

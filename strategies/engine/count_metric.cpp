#include "strategies/engine/count_metric.h"

#include "strategies/engine/probabilities.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

using kernels::ConstMatrix;
using Cells = std::span<std::int64_t>;
using ConstCells = std::span<const std::int64_t>;

/// The weight of a row in whole steps.
std::int64_t steps_of(const Targets& t, int row) {
  if (t.weights == nullptr) return CountMetric::kOne;
  const float weight = t.weights[row];
  if (!(weight >= 0 && weight < 0x1p32F)) {
    throw std::runtime_error("[metric] a row has sample weight " + std::to_string(weight) +
                             "; metrics of counts take weights from 0 to 2^32");
  }
  return std::llround(static_cast<double>(weight) * static_cast<double>(CountMetric::kOne));
}

void add(std::int64_t& cell, std::int64_t steps) {
  if (__builtin_add_overflow(cell, steps, &cell)) {
    throw std::runtime_error(
        "[metric] the sample weights of all rows sum up to more than 2^33; make them smaller");
  }
}

double in_rows(std::int64_t steps) {
  return static_cast<double>(steps) / static_cast<double>(CountMetric::kOne);
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void require_labels(const std::string& metric, const TargetShape& shape) {
  if (shape.classes > 0) return;
  throw std::invalid_argument("[metric] " + metric +
                              " needs class labels, but the data set has numeric targets");
}

/// For what is counted over pairs of a prediction and yes or no.
void require_pairs(const std::string& metric, int outputs, const TargetShape& shape) {
  if (shape.classes > 0 || shape.target_columns == outputs) return;
  throw std::invalid_argument("[metric] " + metric +
                              " needs class labels, or numeric targets with as many columns as the model has "
                              "outputs (" +
                              std::to_string(outputs) + "); the data set has " +
                              std::to_string(shape.target_columns));
}

/// Whether the label's score is among the k highest: fewer than k are higher, so that equal ones count all,
/// as in TensorFlow. A label whose score is NaN or infinite never is; other NaN are passed over.
class TopK final : public CountMetric {
 public:
  explicit TopK(int k) : k_(k) {}
  std::string name() const override { return "top_" + std::to_string(k_) + "_accuracy"; }
  void check(int outputs, const TargetShape& shape) const override {
    require_labels(name(), shape);
    if (k_ > outputs) {
      throw std::invalid_argument("[metric] top_k=" + std::to_string(k_) + " of a model with " +
                                  std::to_string(outputs) + " outputs; k can be 1 .. " +
                                  std::to_string(outputs));
    }
  }
  std::size_t cells(int /*outputs*/) const override { return 2; }
  void count(ConstMatrix y, const Targets& t, Cells cells) const override {
    for (int r = 0; r < y.rows; ++r) {
      const float mine = y.at(r, t.labels[r]);
      int higher = 0;
      for (int c = 0; c < y.columns; ++c) higher += y.at(r, c) > mine ? 1 : 0;
      const std::int64_t steps = steps_of(t, r);
      if (std::isfinite(mine) && higher < k_) add(cells[0], steps);
      add(cells[1], steps);
    }
  }
  std::optional<double> value(ConstCells cells) const override { return ratio(cells[0], cells[1]); }

 private:
  const int k_;
};

/// True positives over all that are said to be positive (precision), or that are (recall); 0 of none.
class PrecisionOrRecall final : public CountMetric {
 public:
  PrecisionOrRecall(std::string name, bool recall, double threshold, ProbabilityRule rule)
      : name_(std::move(name)), recall_(recall), threshold_(threshold), rule_(rule) {}
  std::string name() const override { return name_; }
  void check(int outputs, const TargetShape& shape) const override { require_pairs(name_, outputs, shape); }
  std::size_t cells(int /*outputs*/) const override { return 2; }  // true positives, and the whole
  void count(ConstMatrix y, const Targets& t, Cells cells) const override {
    each_pair(rule_, y, t, [&](int row, float probability, bool is) {
      const bool said = static_cast<double>(probability) > threshold_;
      if (said && is) add(cells[0], steps_of(t, row));
      if (recall_ ? is : said) add(cells[1], steps_of(t, row));
    });
  }
  std::optional<double> value(ConstCells cells) const override { return ratio(cells[0], cells[1]); }

 private:
  const std::string name_;
  const bool recall_;
  const double threshold_;
  const ProbabilityRule rule_;
};

/// The area under the ROC curve by trapezoids between thresholds 0-, 1/(n-1) .. (n-2)/(n-1), 1+, as
/// tf.keras.metrics.AUC. Cells: of the negatives, then of the positives, how many lie above thresholds 0 .. i
/// and no other. The comparison p > i/(n-1) is exact, where Keras rounds it to float32.
class AreaUnderRoc final : public CountMetric {
 public:
  AreaUnderRoc(std::string name, int thresholds, ProbabilityRule rule)
      : name_(std::move(name)), thresholds_(static_cast<std::size_t>(thresholds)), rule_(rule) {}
  std::string name() const override { return name_; }
  void check(int outputs, const TargetShape& shape) const override { require_pairs(name_, outputs, shape); }
  std::size_t cells(int /*outputs*/) const override { return 2 * thresholds_; }
  void count(ConstMatrix y, const Targets& t, Cells cells) const override {
    each_pair(rule_, y, t, [&](int row, float probability, bool is) {
      const double scaled = static_cast<double>(probability) * static_cast<double>(thresholds_ - 1);
      if (!(probability >= 0 && probability <= 1)) {
        throw std::runtime_error("[metric] " + name_ + ": the model predicts " + std::to_string(probability) +
                                 "; probabilities from 0 to 1 are expected (end the model with sigmoid or "
                                 "softmax, or train it with a loss from logits)");
      }
      const auto above = static_cast<std::size_t>(std::max(0.0, std::ceil(scaled) - 1));
      add(cells[above + (is ? thresholds_ : 0)], steps_of(t, row));
    });
  }
  std::optional<double> value(ConstCells cells) const override {
    std::int64_t negatives = 0, positives = 0;
    for (std::size_t i = 0; i < thresholds_; ++i) {
      negatives += cells[i];
      positives += cells[thresholds_ + i];
    }
    double area = 0;
    std::int64_t false_positives = negatives, true_positives = positives;
    for (std::size_t i = 0; i + 1 < thresholds_; ++i) {
      const double before = ratio(true_positives, positives);
      true_positives -= cells[thresholds_ + i];
      false_positives -= cells[i];
      area += ratio(cells[i], negatives) * (before + ratio(true_positives, positives)) / 2;
    }
    return area;
  }

 private:
  const std::string name_;
  const std::size_t thresholds_;
  const ProbabilityRule rule_;
};

/// Rows by true and by predicted class: the first of the highest scores, or yes and no of one binary output.
/// A column more counts rows without a prediction (all scores NaN).
class Confusion final : public CountMetric {
 public:
  explicit Confusion(float threshold) : threshold_(threshold) {}
  std::string name() const override { return "confusion"; }
  void check(int outputs, const TargetShape& shape) const override {
    if (shape.classes > 0 || (shape.target_columns == 1 && outputs == 1)) return;
    throw std::invalid_argument(
        "[metric] confusion needs class labels, or one binary target and one output; "
        "the data set has " +
        std::to_string(shape.target_columns) + " target columns and the model " + std::to_string(outputs) +
        " outputs");
  }
  std::size_t cells(int outputs) const override {
    const auto classes = static_cast<std::size_t>(std::max(2, outputs));
    return classes * (classes + 1);
  }
  void count(ConstMatrix y, const Targets& t, Cells cells) const override {
    const auto columns = static_cast<std::size_t>(std::max(2, y.columns)) + 1;
    for (int r = 0; r < y.rows; ++r) {
      const bool labelled = t.labels != nullptr;
      const int is = labelled ? t.labels[r] : t.values.at(r, 0) > 0.5F ? 1 : 0;
      const int said = labelled ? highest(y, r) : yes_or_no(y.at(r, 0));
      add(cells[static_cast<std::size_t>(is) * columns + static_cast<std::size_t>(said)], steps_of(t, r));
    }
  }
  std::optional<double> value(ConstCells) const override { return {}; }
  std::optional<CountTable> table(ConstCells cells) const override {
    CountTable table{"true class", "predicted class", 0, 0, {}};
    while (static_cast<std::size_t>(table.rows * (table.rows + 1)) < cells.size()) ++table.rows;
    const int all = table.rows + 1;
    bool none = false;
    for (int r = 0; r < table.rows; ++r) none = none || cells[static_cast<std::size_t>(r * all + table.rows)];
    table.columns = none ? all : table.rows;
    for (int r = 0; r < table.rows; ++r) {
      for (int c = 0; c < table.columns; ++c)
        table.values.push_back(in_rows(cells[static_cast<std::size_t>(r * all + c)]));
    }
    return table;
  }

 private:
  static int highest(ConstMatrix y, int row) {
    int best = y.columns;
    for (int c = 0; c < y.columns; ++c) {
      if (best == y.columns ? !std::isnan(y.at(row, c)) : y.at(row, c) > y.at(row, best)) best = c;
    }
    return best;
  }
  int yes_or_no(float y) const { return std::isnan(y) ? 2 : y > threshold_ ? 1 : 0; }

  const float threshold_;
};

constexpr const char* kNames = "top_k, precision, recall, auc, confusion";

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw std::invalid_argument("[metric] '" + std::string(text) + "': " + why);
}

/// The number after '=', or `preset` where there is none.
double number_of(std::string_view text, double preset, double least, double most, bool whole) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return preset;
  const std::string_view digits = text.substr(equals + 1);
  double value = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed == std::errc() && end == digits.data() + digits.size() && value >= least && value <= most &&
      (!whole || value == std::floor(value)))
    return value;
  char limits[64];
  std::snprintf(limits, sizeof limits, "%g to %g", least, most);
  refuse(text,
         std::string("after '=' comes ") + (whole ? "a whole number from " : "a number from ") + limits);
}

}  // namespace

std::string count_metric_names() {
  return kNames;
}

bool is_count_metric(std::string_view name) {
  name = name.substr(0, name.find('='));
  return name == "top_k" || name == "precision" || name == "recall" || name == "auc" || name == "confusion";
}

CountMetricPtr make_count_metric(std::string_view text, const Loss& loss) {
  const std::string_view name = text.substr(0, text.find('='));
  const ProbabilityRule rule = probability_rule(loss);
  const std::string shown(text);
  if (name == "top_k")
    return std::make_shared<TopK>(
        static_cast<int>(number_of(text, 5, 1, std::numeric_limits<int>::max(), true)));
  if (name == "precision" || name == "recall")
    return std::make_shared<PrecisionOrRecall>(shown, name == "recall", number_of(text, 0.5, 0, 1, false),
                                               rule);
  if (name == "auc")
    return std::make_shared<AreaUnderRoc>(shown, static_cast<int>(number_of(text, 200, 2, 1e6, true)), rule);
  if (name == "confusion") {
    if (text != name) refuse(text, "confusion takes no number");
    return std::make_shared<Confusion>(loss.binary_threshold());
  }
  refuse(text, std::string("is not known; metrics of counts are: ") + kNames);
}

}  // namespace mirrorscale::strategies

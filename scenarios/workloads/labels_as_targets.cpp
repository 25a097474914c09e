#include "scenarios/workloads/labels_as_targets.h"

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

using strategies::Dataset;
using strategies::DatasetPtr;
using Rows = std::span<const std::int64_t>;

class LabelsAsTargets final : public Dataset {
 public:
  LabelsAsTargets(DatasetPtr base, std::string name) : base_(std::move(base)), name_(std::move(name)) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(base_->rows()));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    labels_.resize(all.size());
    base_->copy_labels(all, labels_.data());
  }

  const std::string& name() const override { return name_; }
  std::int64_t rows() const override { return base_->rows(); }
  int features() const override { return base_->features(); }
  strategies::RowImage image() const override { return base_->image(); }
  int classes() const override { return 0; }
  int target_columns() const override { return 1; }
  bool weighted() const override { return base_->weighted(); }
  bool synthetic() const override { return base_->synthetic(); }

  void copy_features(Rows rows, kernels::Matrix x) const override { base_->copy_features(rows, x); }
  void copy_labels(Rows /*rows*/, int* /*labels*/) const override {
    throw std::invalid_argument("[copy_labels] '" + name_ + "' has targets, no labels");
  }
  void copy_targets(Rows rows, kernels::Matrix t) const override {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      t.at(static_cast<int>(i), 0) = static_cast<float>(labels_.at(static_cast<std::size_t>(rows[i])));
    }
  }
  void copy_weights(Rows rows, float* weights) const override { base_->copy_weights(rows, weights); }

 private:
  DatasetPtr base_;
  std::string name_;
  std::vector<int> labels_;
};

}  // namespace

DatasetPtr labels_as_targets(DatasetPtr base, const std::string& name) {
  if (base->classes() != 2) {
    throw std::invalid_argument("[labels_as_targets] '" + base->name() + "' has " +
                                std::to_string(base->classes()) + " classes; expected 2");
  }
  return std::make_shared<LabelsAsTargets>(std::move(base), name);
}

}  // namespace mirrorscale::scenarios

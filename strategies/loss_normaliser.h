#pragma once

namespace mirrorscale::strategies {

/// What gradient sums over the global batch are multiplied by before they are used.
class LossNormaliser {
 public:
  virtual ~LossNormaliser() = default;
  /// `weight_sum`: sample weights over the rows that were summed (their count where there are no weights).
  /// `replicas`: how many replicas took part.
  virtual float scale(float weight_sum, int replicas) const = 0;
};

/// 1 / weight_sum; 0 for an empty sum. The mean over the global batch, however the rows were shared out.
class GlobalMean final : public LossNormaliser {
 public:
  float scale(float weight_sum, int /*replicas*/) const override {
    return weight_sum == 0 ? 0.0F : 1.0F / weight_sum;
  }
};

}  // namespace mirrorscale::strategies

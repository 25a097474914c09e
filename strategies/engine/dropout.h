#pragma once
#include "strategies/engine/layer.h"

namespace mirrorscale::strategies {

/// In training each element is 0 with probability `rate`, else x / (1 - rate) (Srivastava et al. 2014); x at
/// other times. Which ones is keyed by the model's seed, the layer's name, the step and the sample's place in
/// the global batch: the same at any number of replicas.
class DropoutLayer final : public Layer {
 public:
  /// Throws std::invalid_argument unless 0 <= rate < 1.
  explicit DropoutLayer(double rate);

  std::string kind() const override { return "dropout"; }
  bool random() const override { return rate_ > 0; }
  Shape build(const Shape& in, const BuildPlan& plan) override;
  double forward_flops() const override { return 0; }
  double backward_flops(bool) const override { return 0; }
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass) const override;

 private:
  bool acts(const Moment& moment) const { return moment.training && rate_ > 0; }
  kernels::Dropout at(const Moment& moment) const;

  const float rate_;
  int rows_ = 1;             // of a sample
  std::uint32_t layer_ = 0;  // of the key
};

}  // namespace mirrorscale::strategies

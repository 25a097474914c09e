#pragma once
#include "strategies/engine/layer.h"

#include <optional>

namespace mirrorscale::strategies {

/// y = (x - mean) / sqrt(variance + epsilon) · gamma + beta, over the channels of each position (Ba, Kiros,
/// Hinton 2016). x, y: [rows, channels]  gamma, beta: [channels], from 1 and 0
class LayerNorm final : public Layer {
 public:
  /// Throws std::invalid_argument for an epsilon that isn't above 0.
  explicit LayerNorm(double epsilon = 1e-5);

  std::string kind() const override { return "layer_norm"; }
  double epsilon() const { return static_cast<double>(epsilon_); }
  Shape build(const Shape& in, const BuildPlan& plan) override;
  double forward_flops() const override { return 0; }
  double backward_flops(bool) const override { return 0; }
  std::size_t kept_size(int samples) const override;
  std::size_t scratch_size(int samples) const override;
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass) const override;

 private:
  kernels::Matrix moments(kernels::Layout layout, const Room& room) const;

  const float epsilon_;
  int rows_ = 0, columns_ = 0;  // of a sample
  std::optional<std::size_t> gamma_, beta_;
};

}  // namespace mirrorscale::strategies

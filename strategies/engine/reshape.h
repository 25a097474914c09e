#pragma once
#include "strategies/engine/layer.h"

#include <optional>

namespace mirrorscale::strategies {

/// The same numbers of a sample, in the order height, width, channel, in another shape.
class Reshape final : public Layer {
 public:
  /// `to` a shape of no channels: a plain row of all (Flatten).
  explicit Reshape(const Shape& to) : to_(to) {}
  std::string kind() const override { return to_.channels == 0 ? "flatten" : "reshape"; }
  /// Throws std::invalid_argument when the sizes differ, quoting both shapes.
  Shape build(const Shape& in, const BuildPlan& plan) override;
  double forward_flops() const override { return 0; }
  double backward_flops(bool) const override { return 0; }
  std::size_t scratch_size(int samples) const override { return row_size(samples); }
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass) const override;

 private:
  std::size_t row_size(int samples) const;
  kernels::Matrix row(const Room& room, float* data, kernels::Layout layout) const;

  const Shape to_;
  std::optional<Shape> in_;  // from build on
  Shape out_;
};

LayerPtr flatten();
LayerPtr reshape(const Shape& to);

}  // namespace mirrorscale::strategies

#pragma once
#include "strategies/engine/layer.h"
#include "strategies/engine/window.h"

#include <optional>
#include <string>

namespace mirrorscale::strategies {

struct Conv2DOptions {
  int filters = 0;
  Both kernel = 1, stride = 1, dilation = 1;
  std::string padding = "valid";  // see Sliding
  int groups = 1;                 // filters see the channels of their group; channels: depthwise
  std::string activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer{Initializer::Kind::kGlorotUniform, 0};
  Initializer bias_initializer{Initializer::Kind::kZeros, 0};
  Penalty kernel_penalty = {};
  Penalty bias_penalty = {};
};

/// y = f(x * kernel + bias) over images, as Keras' Conv2D. x: [height, width, channels]
/// kernel: [kernel height, kernel width, channels / groups, filters]  y: [out height, out width, filters].
/// A sequence [time, channels] is an image of height 1 (Conv1D). The backends' operation is
/// kernels::Convolution.
class Conv2D final : public Layer {
 public:
  /// Throws std::invalid_argument for filters < 1, groups that don't divide them, or an unknown activation.
  explicit Conv2D(const Conv2DOptions& options);

  const Conv2DOptions& options() const { return options_; }
  std::string kind() const override { return "conv2d"; }
  /// Throws std::invalid_argument for an image that is smaller than the window, channels that the groups
  /// don't divide, more than kernels::kMostTaps taps, and a packed input with groups.
  Shape build(const Shape& in, const BuildPlan& plan) override;
  OutputFunction output_function() const override { return function_; }
  double forward_flops() const override { return 2.0 * products(); }
  double backward_flops(bool with_dx) const override { return (with_dx ? 4.0 : 2.0) * products(); }
  std::size_t scratch_size(int samples) const override;
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass) const override;

 private:
  double products() const;
  bool is_product() const;

  const Conv2DOptions options_;
  const OutputFunction function_;
  std::optional<kernels::Convolution> geometry_;  // from build on
  int kernel_ = -1, bias_ = -1;
  std::optional<std::size_t> place_;
  std::size_t bias_offset_ = 0;
};

LayerPtr conv2d(const Conv2DOptions& options);

}  // namespace mirrorscale::strategies

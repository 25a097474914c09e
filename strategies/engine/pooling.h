#pragma once
#include "strategies/engine/layer.h"
#include "strategies/engine/window.h"

#include <optional>
#include <string>

namespace mirrorscale::strategies {

enum class PoolingKind { kMax, kAverage, kGlobalAverage };

/// The maximum, or the mean, of each window of an image, channel by channel; padding doesn't count. A global
/// average's window is the whole image. x: [height, width, channels]; y: [out height, out width, channels],
/// or [channels].
class Pooling final : public Layer {
 public:
  /// `sliding` has no meaning for kGlobalAverage.
  Pooling(PoolingKind kind, const Sliding& sliding) : kind_(kind), sliding_(sliding) {}

  PoolingKind pooling() const { return kind_; }
  const Sliding& sliding() const { return sliding_; }
  std::string kind() const override;
  /// Throws std::invalid_argument for an image that is packed or smaller than the window, and where a window
  /// would see nothing but padding.
  Shape build(const Shape& in, const BuildPlan& plan) override;
  double forward_flops() const override { return 0; }
  double backward_flops(bool) const override { return 0; }
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass) const override;

 private:
  const PoolingKind kind_;
  const Sliding sliding_;
  std::optional<kernels::Window> window_;  // from build on
};

/// Windows of size x size; stride 0: windows side by side.
LayerPtr max_pool(const Both& size = 2, int stride = 0, const std::string& padding = "valid");
LayerPtr average_pool(const Both& size = 2, int stride = 0, const std::string& padding = "valid");
LayerPtr global_average_pool();

}  // namespace mirrorscale::strategies

#pragma once
#include "strategies/engine/layer.h"

namespace mirrorscale::strategies {

struct SelfAttentionOptions {
  int heads = 1;
  bool causal = false;  // a position sees itself and those before it
};

/// softmax(q k' / sqrt(head size)) v of each head (Vaswani et al. 2017), of queries, keys and values that lie
/// side by side: x: [time, 3 width], each third with the heads one after the other; y: [time, width].
/// Multi-head attention is dense(3 width), this, dense(width).
class SelfAttention final : public Layer {
 public:
  /// Throws std::invalid_argument for heads < 1.
  explicit SelfAttention(const SelfAttentionOptions& options);

  std::string kind() const override { return "self_attention"; }
  const kernels::Attention& attention() const { return attention_; }
  Shape build(const Shape& in, const BuildPlan& plan) override;
  double forward_flops() const override;
  double backward_flops(bool with_dx) const override { return with_dx ? 2.5 * forward_flops() : 0; }
  std::size_t kept_size(int samples) const override;
  std::size_t scratch_size(int samples) const override;
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass) const override;

 private:
  kernels::Matrix norms(kernels::Layout layout, const Room& room) const;

  kernels::Attention attention_;
  int width_ = 0;
};

}  // namespace mirrorscale::strategies

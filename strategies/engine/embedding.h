#pragma once
#include "strategies/engine/layer.h"

#include <optional>

namespace mirrorscale::strategies {

/// The row of a table for each token. x: [samples, time] of whole numbers, as a data set gives them
/// table: [tokens, width]  y: [samples * time, width]. Its gradient is dense: per row of the table the sum
/// over the whole global batch, before anything that isn't linear.
class Embedding final : public Layer {
 public:
  /// Starts uniform in ±0.05 (Keras' choice). Throws std::invalid_argument for sizes below 1.
  Embedding(int tokens, int width, const Initializer& initializer = {Initializer::Kind::kUniform, 0.05F});

  std::string kind() const override { return "embedding"; }
  bool takes_tokens() const override { return true; }
  void check_input(kernels::ConstMatrix x, std::int64_t first_row, const std::string& data) const override;
  Shape build(const Shape& in, const BuildPlan& plan) override;
  double forward_flops() const override { return 0; }
  double backward_flops(bool) const override { return 0; }
  std::size_t scratch_size(int samples) const override;
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass) const override;

 private:
  const int tokens_, width_;
  const Initializer initializer_;
  int time_ = 0, table_ = -1;
  std::optional<std::size_t> place_;
};

/// y = x + table, a learned row for each position. x, y: [time, channels]  table: [time, channels]
class PositionEmbedding final : public Layer {
 public:
  explicit PositionEmbedding(const Initializer& initializer = {Initializer::Kind::kUniform, 0.05F})
      : initializer_(initializer) {}

  std::string kind() const override { return "position_embedding"; }
  Shape build(const Shape& in, const BuildPlan& plan) override;
  double forward_flops() const override { return 0; }
  double backward_flops(bool) const override { return 0; }
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass) const override;

 private:
  const Initializer initializer_;
  int time_ = 0, table_ = -1;
  std::optional<std::size_t> place_;
};

}  // namespace mirrorscale::strategies

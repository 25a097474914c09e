#pragma once
#include "strategies/engine/layer.h"

#include <optional>
#include <string>

namespace mirrorscale::strategies {

struct DenseOptions {
  std::string activation = "linear";  // see output_function_from
  bool use_bias = true;
  Initializer kernel_initializer{Initializer::Kind::kGlorotUniform, 0};
  Initializer bias_initializer{Initializer::Kind::kZeros, 0};
  Penalty kernel_penalty = {};
  Penalty bias_penalty = {};
};

/// y = f(x · kernel + bias), at each position of a sample alike. x: [rows, in]  kernel: [in, units]
/// bias: [units]  y: [rows, units]
class Dense final : public Layer {
 public:
  /// Throws std::invalid_argument for units < 1 or an unknown activation.
  explicit Dense(int units, const DenseOptions& options = {});
  Dense(int units, const std::string& activation) : Dense(units, DenseOptions{.activation = activation}) {}

  std::string kind() const override { return "dense"; }
  Shape build(const Shape& in, const BuildPlan& plan) override;
  OutputFunction output_function() const override { return function_; }
  double forward_flops() const override { return 2.0 * products(); }
  double backward_flops(bool with_dx) const override { return (with_dx ? 4.0 : 2.0) * products(); }
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass) const override;

 private:
  double products() const { return static_cast<double>(rows_) * in_ * units_; }

  const int units_;
  const DenseOptions options_;
  const OutputFunction function_;
  int rows_ = 0, in_ = 0;  // of a sample
  int kernel_ = -1, bias_ = -1;
  std::optional<std::size_t> place_;
  std::size_t bias_offset_ = 0;
};

/// y = f(x), elementwise or softmax.
class ActivationLayer final : public Layer {
 public:
  explicit ActivationLayer(const std::string& name) : function_(output_function_from(name)) {}
  std::string kind() const override { return "activation"; }
  Shape build(const Shape& in, const BuildPlan&) override { return in; }
  OutputFunction output_function() const override { return function_; }
  double forward_flops() const override { return 0; }
  double backward_flops(bool) const override { return 0; }
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass) const override;

 private:
  const OutputFunction function_;
};

}  // namespace mirrorscale::strategies

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

/// y = f(x · kernel + bias). x: [rows, in]  kernel: [in, units]  bias: [units]  y: [rows, units]
class Dense final : public Layer {
 public:
  /// Throws std::invalid_argument for units < 1 or an unknown activation.
  explicit Dense(int units, const DenseOptions& options = {});
  Dense(int units, const std::string& activation) : Dense(units, DenseOptions{.activation = activation}) {}

  std::string kind() const override { return "dense"; }
  int build(int in, const std::string& name, ParameterLayout& parameters) override;
  OutputFunction output_function() const override { return function_; }
  int transposed_parameter() const override { return kernel_; }
  double forward_flops() const override { return 2.0 * in_ * units_; }
  double backward_flops(bool with_dx) const override { return (with_dx ? 4.0 : 2.0) * in_ * units_; }
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass, const ParameterLayout& parameters,
                std::size_t transposed_offset) const override;

 private:
  const int units_;
  const DenseOptions options_;
  const OutputFunction function_;
  int in_ = 0, kernel_ = -1, bias_ = -1;
  std::size_t kernel_offset_ = 0, bias_offset_ = 0;
};

/// y = f(x), elementwise or softmax.
class ActivationLayer final : public Layer {
 public:
  explicit ActivationLayer(const std::string& name) : function_(output_function_from(name)) {}
  std::string kind() const override { return "activation"; }
  int build(int in, const std::string& name, ParameterLayout& parameters) override;
  OutputFunction output_function() const override { return function_; }
  double forward_flops() const override { return 0; }
  double backward_flops(bool) const override { return 0; }
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass, const ParameterLayout& parameters,
                std::size_t transposed_offset) const override;

 private:
  const OutputFunction function_;
};

}  // namespace mirrorscale::strategies

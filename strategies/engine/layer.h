#pragma once
#include "strategies/engine/pass.h"
#include "strategies/engine/shape.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mirrorscale::strategies {

/// The function a layer ends with: elementwise f, or softmax over the columns.
struct OutputFunction {
  kernels::Activation f = kernels::Activation::kLinear;
  bool softmax = false;
};

/// "linear", "relu", "tanh", "sigmoid", "gelu", "softmax". Throws std::invalid_argument that lists the names.
OutputFunction output_function_from(const std::string& name);
std::string to_string(const OutputFunction& function);

/// What a layer is built with, beside its input's shape.
struct BuildPlan {
  std::string name;             // its parameters are named "<name>/…"
  ParameterLayout& parameters;  // takes them
  bool wants_dx = false;        // backward will be asked for dx
};

/// A layer knows shapes and formulas, and holds no values: replicas share it. Gradients are sums over rows,
/// exact in the sense of docs/exact.md.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual std::string kind() const = 0;
  /// Fixes the shapes, adds its parameters and returns its output's shape. Throws std::invalid_argument for
  /// an input that it can't take, and when it has a place in a model already.
  virtual Shape build(const Shape& in, const BuildPlan& plan) = 0;
  virtual OutputFunction output_function() const { return {}; }
  /// True when its input are whole numbers of a data set, which have no gradient: it can only be a network's
  /// first layer, and check_input looks at the data before they are used.
  virtual bool takes_tokens() const { return false; }
  /// Throws std::invalid_argument that names the row of `data`; x begins at row `first_row` of it.
  virtual void check_input(kernels::ConstMatrix /*x*/, std::int64_t /*first_row*/,
                           const std::string& /*data*/) const {}
  /// True when a training step draws random numbers: it can't be recorded and run again.
  virtual bool random() const { return false; }
  /// True when the derivative of the output function needs the values before it.
  bool saves_input() const { return kernels::derivative_needs_input(output_function().f); }
  /// Floating-point operations a sample: forward, and backward with or without dx.
  virtual double forward_flops() const = 0;
  virtual double backward_flops(bool with_dx) const = 0;
  /// Floats of its Room for up to `samples` samples; multiples of 16.
  virtual std::size_t kept_size(int /*samples*/) const { return 0; }
  virtual std::size_t scratch_size(int /*samples*/) const { return 0; }
  /// Floats of the largest matrix inside of it, beside its input and output.
  virtual std::size_t largest_matrix(int /*samples*/) const { return 0; }

  virtual void forward(const ForwardPass& pass) const = 0;
  virtual void backward(const BackwardPass& pass) const = 0;
};

using LayerPtr = std::shared_ptr<Layer>;

[[noreturn]] void refuse_second_place(const std::string& name);

/// Notes what a layer is built for: where in the arena its parameter lies, or its shape. Throws
/// std::invalid_argument when it has another place already: the layer would read that one's values.
template <class T>
void take_place(std::optional<T>& place, const T& wanted, const std::string& name) {
  if (place && !(*place == wanted)) refuse_second_place(name);
  place = wanted;
}

}  // namespace mirrorscale::strategies

#pragma once
#include "kernels/backend.h"
#include "strategies/engine/parameters.h"

#include <memory>
#include <span>
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

/// What a layer reads and writes in one pass over the rows of one replica. All matrices have the same rows.
struct ForwardPass {
  kernels::Backend& backend;
  const float* weights;    // arena
  kernels::ConstMatrix x;  // [rows, in]
  kernels::Matrix saved;   // [rows, out]: values before the output function; only where saves_input()
  kernels::Matrix y;       // [rows, out]
};

/// One subtree root of a replica's share: its rows, counted from the replica's first row, and the arena for
/// its sum.
struct GradientRoot {
  int first_row = 0, rows = 0;
  float* gradient = nullptr;
};

struct BackwardPass {
  kernels::Backend& backend;
  const float* transposed;             // arena of transposed weights, laid out by Network
  kernels::ConstMatrix x;              // [rows, in], as in forward
  kernels::ConstMatrix dz;             // [rows, out]: gradient before the output function
  kernels::Activation input_function;  // elementwise function that made x; its derivative goes into dx
  kernels::ConstMatrix input_saved;    // what that derivative is computed from
  kernels::Matrix dx;                  // [rows, in]; empty where nobody wants it
  std::span<const GradientRoot> roots;
  int shard_rows;
};

/// A layer knows shapes and formulas, and holds no values: replicas share it. Gradients are sums over rows,
/// exact in the sense of docs/exact.md.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual std::string kind() const = 0;
  /// Fixes the shapes for `in` features, adds its parameters (named "<name>/…") and returns its features.
  virtual int build(int in, const std::string& name, ParameterLayout& parameters) = 0;
  virtual OutputFunction output_function() const { return {}; }
  /// True when the derivative of the output function needs the values before it.
  bool saves_input() const { return kernels::derivative_needs_input(output_function().f); }
  /// Number of the parameter whose transpose `backward` reads to make dx; -1 for none.
  virtual int transposed_parameter() const { return -1; }
  /// Floating-point operations a row: forward, and backward with or without dx.
  virtual double forward_flops() const = 0;
  virtual double backward_flops(bool with_dx) const = 0;

  virtual void forward(const ForwardPass& pass) const = 0;
  virtual void backward(const BackwardPass& pass, const ParameterLayout& parameters,
                        std::size_t transposed_offset) const = 0;
};

using LayerPtr = std::shared_ptr<Layer>;

}  // namespace mirrorscale::strategies

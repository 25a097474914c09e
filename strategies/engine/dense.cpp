#include "strategies/engine/dense.h"

#include <stdexcept>

namespace mirrorscale::strategies {

using kernels::Activation;
using kernels::Matrix;

Dense::Dense(int units, const DenseOptions& options)
    : units_(units), options_(options), function_(output_function_from(options.activation)) {
  if (units < 1)
    throw std::invalid_argument("[dense] units is " + std::to_string(units) + "; needs at least 1");
}

int Dense::build(int in, const std::string& name, ParameterLayout& parameters) {
  if (in_ != 0 && in_ != in) {
    throw std::invalid_argument("[dense] '" + name + "' was built for " + std::to_string(in_) +
                                " features and is used again with " + std::to_string(in) +
                                "; make a new layer for each model");
  }
  const bool built = in_ != 0;
  in_ = in;
  kernel_ = parameters.add({.name = name + "/kernel",
                            .rows = in,
                            .columns = units_,
                            .initializer = options_.kernel_initializer,
                            .penalty = options_.kernel_penalty});
  // The layer remembers where its parameters lie: a second place would take them from the first.
  if (built && parameters[kernel_].offset != kernel_offset_) {
    throw std::invalid_argument(
        "[dense] '" + name + "' has a place in a model already; make a new layer for each place and model");
  }
  kernel_offset_ = parameters[kernel_].offset;
  if (options_.use_bias) {
    bias_ = parameters.add({.name = name + "/bias",
                            .rows = 0,
                            .columns = units_,
                            .initializer = options_.bias_initializer,
                            .penalty = options_.bias_penalty});
    bias_offset_ = parameters[bias_].offset;
  }
  return units_;
}

void Dense::forward(const ForwardPass& pass) const {
  const kernels::ConstMatrix kernel =
      kernels::weight_view(pass.backend.info().layout, pass.weights + kernel_offset_, in_, units_);
  const float* bias = options_.use_bias ? pass.weights + bias_offset_ : nullptr;
  if (saves_input()) {
    pass.backend.linear(pass.x, kernel, bias, Activation::kLinear, pass.saved);
    pass.backend.activate(function_.f, pass.saved, pass.y);
  } else {
    pass.backend.linear(pass.x, kernel, bias, function_.f, pass.y);
    if (function_.softmax) pass.backend.softmax(pass.y, pass.y);
  }
}

void Dense::backward(const BackwardPass& pass, const ParameterLayout& parameters,
                     std::size_t transposed_offset) const {
  if (pass.dx) {
    const kernels::ConstMatrix wt =
        kernels::weight_view(pass.backend.info().layout, pass.transposed + transposed_offset, units_, in_);
    pass.backend.linear_backward_input(pass.dz, wt, pass.input_function, pass.input_saved, pass.dx);
  }
  for (const GradientRoot& root : pass.roots) {
    const auto dz = pass.dz.slice_rows(root.first_row, root.rows);
    const Matrix dw = parameters.matrix(kernel_, root.gradient, pass.backend.info().layout);
    pass.backend.linear_backward_weights(pass.x.slice_rows(root.first_row, root.rows), dz, pass.shard_rows,
                                         dw);
    if (options_.use_bias) pass.backend.sum_rows(dz, pass.shard_rows, root.gradient + bias_offset_);
  }
}

int ActivationLayer::build(int in, const std::string&, ParameterLayout&) {
  return in;
}

void ActivationLayer::forward(const ForwardPass& pass) const {
  if (function_.softmax) {
    pass.backend.softmax(pass.x, pass.y);
    return;
  }
  if (saves_input()) pass.backend.activate(Activation::kLinear, pass.x, pass.saved);
  pass.backend.activate(function_.f, pass.x, pass.y);
}

void ActivationLayer::backward(const BackwardPass& pass, const ParameterLayout&, std::size_t) const {
  if (!pass.dx) return;
  if (pass.input_function == Activation::kLinear) {
    pass.backend.activate(Activation::kLinear, pass.dz, pass.dx);
  } else {
    pass.backend.activate_backward(pass.input_function, pass.input_saved, pass.dz, pass.dx);
  }
}

}  // namespace mirrorscale::strategies

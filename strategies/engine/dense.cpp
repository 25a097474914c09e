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

Shape Dense::build(const Shape& shape, const BuildPlan& plan) {
  const int in = shape.columns();
  if (in_ != 0 && in_ != in) {
    throw std::invalid_argument("[dense] '" + plan.name + "' was built for " + std::to_string(in_) +
                                " features and is used again with " + std::to_string(in) +
                                "; make a new layer for each model");
  }
  in_ = in;
  rows_ = shape.rows();
  kernel_ = plan.parameters.add({.name = plan.name + "/kernel",
                                 .rows = in,
                                 .columns = units_,
                                 .initializer = options_.kernel_initializer,
                                 .penalty = options_.kernel_penalty,
                                 .transposed = plan.wants_dx});
  take_place(place_, plan.parameters[kernel_].offset, plan.name);
  if (options_.use_bias) {
    bias_ = plan.parameters.add({.name = plan.name + "/bias",
                                 .rows = 0,
                                 .columns = units_,
                                 .initializer = options_.bias_initializer,
                                 .penalty = options_.bias_penalty,
                                 .role = Role::kBias});
    bias_offset_ = plan.parameters[bias_].offset;
  }
  return shape.packed ? Shape(units_) : Shape(shape.height, shape.width, units_);
}

void Dense::forward(const ForwardPass& pass) const {
  const kernels::ConstMatrix kernel =
      pass.parameters.matrix(kernel_, pass.weights, pass.backend.info().layout);
  const float* bias = options_.use_bias ? pass.weights + bias_offset_ : nullptr;
  if (saves_input()) {
    pass.backend.linear(pass.x, kernel, bias, Activation::kLinear, pass.saved);
    pass.backend.activate(function_.f, pass.saved, pass.y);
  } else {
    pass.backend.linear(pass.x, kernel, bias, function_.f, pass.y);
    if (function_.softmax) pass.backend.softmax(pass.y, pass.y);
  }
}

void Dense::backward(const BackwardPass& pass) const {
  const kernels::Layout layout = pass.backend.info().layout;
  if (pass.dx) {
    const kernels::ConstMatrix wt = pass.parameters.transposed(kernel_, pass.transposed, layout);
    pass.backend.linear_backward_input(pass.dz, wt, pass.input_function, pass.input_saved, pass.dx);
  }
  for (const GradientRoot& root : pass.roots) {
    const int first = root.first_row * rows_, rows = root.rows * rows_, shard = pass.shard_rows * rows_;
    const auto dz = pass.dz.slice_rows(first, rows);
    const Matrix dw = pass.parameters.matrix(kernel_, root.gradient, layout);
    pass.backend.linear_backward_weights(pass.x.slice_rows(first, rows), dz, shard, dw);
    if (options_.use_bias) pass.backend.sum_rows(dz, shard, root.gradient + bias_offset_);
  }
}

void ActivationLayer::forward(const ForwardPass& pass) const {
  if (function_.softmax) {
    pass.backend.softmax(pass.x, pass.y);
    return;
  }
  if (saves_input()) pass.backend.activate(Activation::kLinear, pass.x, pass.saved);
  pass.backend.activate(function_.f, pass.x, pass.y);
}

void ActivationLayer::backward(const BackwardPass& pass) const {
  if (!pass.dx) return;
  pass.hand_dz_on();
}

}  // namespace mirrorscale::strategies

#include "strategies/engine/convolution.h"

#include <stdexcept>

namespace mirrorscale::strategies {

using kernels::Activation;
using kernels::ConstMatrix;
using kernels::Matrix;

Conv2D::Conv2D(const Conv2DOptions& options)
    : options_(options), function_(output_function_from(options.activation)) {
  if (options.filters < 1)
    throw std::invalid_argument("[conv2d] filters is " + std::to_string(options.filters) +
                                "; needs at least 1");
  if (options.groups < 1 || options.filters % options.groups != 0) {
    throw std::invalid_argument("[conv2d] " + std::to_string(options.groups) + " groups don't divide " +
                                std::to_string(options.filters) + " filters");
  }
}

Shape Conv2D::build(const Shape& in, const BuildPlan& plan) {
  const std::string who = "[conv2d] '" + plan.name + "'";
  kernels::Convolution g{
      window_over(who, in, {options_.kernel, options_.stride, options_.dilation, options_.padding}),
      in.channels, options_.filters, options_.groups, in.packed};
  if (g.channels % g.groups != 0) {
    throw std::invalid_argument(who + " has " + std::to_string(g.groups) +
                                " groups, which don't divide its " + std::to_string(g.channels) +
                                " channels");
  }
  if (g.window.taps() > kernels::kMostTaps) {
    throw std::invalid_argument(who + " has a kernel of " + std::to_string(g.window.taps()) +
                                " pixels; there may be up to " + std::to_string(kernels::kMostTaps));
  }
  if (g.groups > 1 || plan.wants_dx) require_pixels(who, in);
  const int taps = g.window.taps();
  const int kernel =
      plan.parameters.add({.name = plan.name + "/kernel",
                           .rows = g.packed ? taps * g.channels : g.group_channels(),
                           .columns = g.filters,
                           .initializer = options_.kernel_initializer,
                           .penalty = options_.kernel_penalty,
                           .transposed = plan.wants_dx,
                           .taps = g.packed ? 1 : taps,
                           .shape = {g.window.y.size, g.window.x.size, g.group_channels(), g.filters},
                           .fan_in = taps * g.group_channels(),
                           .fan_out = taps * g.filters});
  take_place(geometry_, g, plan.name);
  take_place(place_, plan.parameters[kernel].offset, plan.name);
  kernel_ = kernel;
  if (options_.use_bias) {
    bias_ = plan.parameters.add({.name = plan.name + "/bias",
                                 .rows = 0,
                                 .columns = g.filters,
                                 .initializer = options_.bias_initializer,
                                 .penalty = options_.bias_penalty,
                                 .role = Role::kBias});
    bias_offset_ = plan.parameters[bias_].offset;
  }
  return {g.window.y.out, g.window.x.out, g.filters};
}

double Conv2D::products() const {
  return static_cast<double>(geometry_->window.taps()) * geometry_->group_channels() * geometry_->filters *
         geometry_->window.out_pixels();
}

std::size_t Conv2D::scratch_size(int) const {
  return is_product() ? 0 : kernels::convolution_scratch(*geometry_) / kernels::kPanel * kernels::kPanel;
}

/// Each pixel by itself: a product of matrices, and the same chains.
bool Conv2D::is_product() const {
  const kernels::Window& w = geometry_->window;
  return w.taps() == 1 && w.y.stride == 1 && w.x.stride == 1 && geometry_->groups == 1 && !geometry_->packed;
}

void Conv2D::forward(const ForwardPass& pass) const {
  const ConstMatrix kernel = pass.parameters.matrix(kernel_, pass.weights, pass.backend.info().layout);
  const float* bias = options_.use_bias ? pass.weights + bias_offset_ : nullptr;
  const Activation f = saves_input() ? Activation::kLinear : function_.f;
  const Matrix y = saves_input() ? pass.saved : pass.y;
  if (is_product()) {
    pass.backend.linear(pass.x, kernel, bias, f, y);
  } else {
    pass.backend.convolve(*geometry_, pass.x, kernel, bias, f, y, pass.room.scratch);
  }
  if (saves_input()) pass.backend.activate(function_.f, pass.saved, pass.y);
  if (function_.softmax) pass.backend.softmax(pass.y, pass.y);
}

void Conv2D::backward(const BackwardPass& pass) const {
  const kernels::Layout layout = pass.backend.info().layout;
  if (pass.dx) {
    const ConstMatrix wt = pass.parameters.transposed(kernel_, pass.transposed, layout);
    if (is_product()) {
      pass.backend.linear_backward_input(pass.dz, wt, pass.input_function, pass.input_saved, pass.dx);
    } else {
      pass.backend.convolve_backward_input(*geometry_, pass.dz, wt, pass.input_function, pass.input_saved,
                                           pass.dx, pass.room.scratch);
    }
  }
  const int in = geometry_->packed ? 1 : geometry_->window.in_pixels(), out = geometry_->window.out_pixels();
  for (const GradientRoot& root : pass.roots) {
    const auto x = pass.x.slice_rows(root.first_row * in, root.rows * in);
    const auto dz = pass.dz.slice_rows(root.first_row * out, root.rows * out);
    const Matrix dw = pass.parameters.matrix(kernel_, root.gradient, layout);
    if (is_product()) {
      pass.backend.linear_backward_weights(x, dz, pass.shard_rows * out, dw);
    } else {
      pass.backend.convolve_backward_weights(*geometry_, x, dz, pass.shard_rows, dw, pass.room.scratch);
    }
    if (options_.use_bias) pass.backend.sum_rows(dz, pass.shard_rows * out, root.gradient + bias_offset_);
  }
}

LayerPtr conv2d(const Conv2DOptions& options) {
  return std::make_shared<Conv2D>(options);
}

}  // namespace mirrorscale::strategies

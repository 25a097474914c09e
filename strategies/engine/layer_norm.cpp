#include "strategies/engine/layer_norm.h"

#include <stdexcept>

namespace mirrorscale::strategies {

using kernels::Matrix;

LayerNorm::LayerNorm(double epsilon) : epsilon_(static_cast<float>(epsilon)) {
  if (!(epsilon > 0)) {
    throw std::invalid_argument("[layer_norm] epsilon is " + std::to_string(epsilon) +
                                "; needs a value above 0");
  }
}

Shape LayerNorm::build(const Shape& in, const BuildPlan& plan) {
  rows_ = in.rows();
  columns_ = in.columns();
  const auto add = [&](const char* name, Initializer::Kind kind) {
    const int number = plan.parameters.add({.name = plan.name + name,
                                            .columns = columns_,
                                            .initializer = {kind, 0},
                                            .role = Role::kNormalisation});
    return plan.parameters[number].offset;
  };
  take_place(gamma_, add("/gamma", Initializer::Kind::kOnes), plan.name);
  take_place(beta_, add("/beta", Initializer::Kind::kZeros), plan.name);
  return in;
}

std::size_t LayerNorm::kept_size(int samples) const {
  return kernels::activation_size(samples * rows_, 2);
}
std::size_t LayerNorm::scratch_size(int samples) const {
  return kernels::activation_size(samples * rows_, columns_);
}
Matrix LayerNorm::moments(kernels::Layout layout, const Room& room) const {
  return kernels::activation_view(layout, room.kept, room.samples * rows_, 2, room.capacity * rows_);
}

void LayerNorm::forward(const ForwardPass& pass) const {
  pass.backend.layer_norm(pass.x, pass.weights + *gamma_, pass.weights + *beta_, epsilon_,
                          moments(pass.backend.info().layout, pass.room), pass.y);
}

void LayerNorm::backward(const BackwardPass& pass) const {
  const kernels::Layout layout = pass.backend.info().layout;
  const Matrix scaled = kernels::activation_view(layout, pass.room.scratch, pass.room.samples * rows_,
                                                 columns_, pass.room.capacity * rows_);
  pass.backend.layer_norm_backward(pass.x, moments(layout, pass.room), pass.weights + *gamma_, pass.dz,
                                   scaled, pass.dx);
  if (pass.dx) pass.finish_dx();
  for (const GradientRoot& root : pass.roots) {
    const int first = root.first_row * rows_, rows = root.rows * rows_, shard = pass.shard_rows * rows_;
    pass.backend.sum_rows(scaled.slice_rows(first, rows), shard, root.gradient + *gamma_);
    pass.backend.sum_rows(pass.dz.slice_rows(first, rows), shard, root.gradient + *beta_);
  }
}

}  // namespace mirrorscale::strategies

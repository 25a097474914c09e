#include "strategies/engine/residual.h"

#include "strategies/engine/matrix_sum.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace mirrorscale::strategies {

using kernels::Activation;
using kernels::Layout;
using kernels::Matrix;

Residual::Residual(std::vector<LayerPtr> branch, const ResidualOptions& options)
    : branch_layers_(std::move(branch)),
      shortcut_layers_(options.shortcut),
      function_(output_function_from(options.activation)) {
  if (branch_layers_.empty())
    throw std::invalid_argument("[residual] the branch has no layers; add at least one");
  if (function_.softmax)
    throw std::invalid_argument("[residual] softmax of the sum; use an activation layer after it");
}

Shape Residual::build(const Shape& in, const BuildPlan& plan) {
  in_ = in;
  branch_.emplace(in, branch_layers_, plan.name + "/", plan.parameters, plan.wants_dx);
  Shape other = in;
  if (!shortcut_layers_.empty()) {
    shortcut_.emplace(in, shortcut_layers_, plan.name + "/shortcut_", plan.parameters, plan.wants_dx);
    other = shortcut_->out();
  }
  if (branch_->out() == other) return other;
  throw std::invalid_argument(
      "[residual] '" + plan.name + "': the branch makes " + to_string(branch_->out()) +
      (shortcut_ ? " and the shortcut " : " of an input of ") + to_string(other) +
      "; both must have the same shape" + (shortcut_ ? "" : " (or give a shortcut that changes it)"));
}

double Residual::forward_flops() const {
  return branch_->forward_flops() + (shortcut_ ? shortcut_->forward_flops() : 0);
}
double Residual::backward_flops(bool) const {
  return branch_->backward_flops() + (shortcut_ ? shortcut_->backward_flops() : 0);
}

std::size_t Residual::kept_size(int samples) const {
  return branch_->kept_size(samples) + (shortcut_ ? shortcut_->kept_size(samples) : 0);
}
std::size_t Residual::scratch_size(int samples) const {
  const std::size_t branch = branch_->scratch_size(samples);
  return shortcut_ ? matrix_size(in_, samples) + std::max(branch, shortcut_->scratch_size(samples)) : branch;
}
std::size_t Residual::largest_matrix(int samples) const {
  return std::max(branch_->largest_matrix(samples), shortcut_ ? shortcut_->largest_matrix(samples) : 0);
}

/// Of the branch and the shortcut, which work one after the other in the same scratch.
Residual::Rooms Residual::rooms(const Room& room, Layout layout) const {
  Rooms r{room, room, {}};
  if (!shortcut_) return r;
  r.shortcut_dx = matrix_in(layout, room.scratch, in_, room);
  r.branch.scratch = r.shortcut.scratch = room.scratch + matrix_size(in_, room.capacity);
  r.shortcut.kept = room.kept + branch_->kept_size(room.capacity);
  return r;
}

void Residual::forward(const ForwardPass& pass) const {
  const Layout layout = pass.backend.info().layout;
  const Rooms r = rooms(pass.room, layout);
  const auto run = [&](const Chain& chain, const Room& room) {
    chain.forward({pass.backend, pass.parameters, pass.weights, pass.x, {}, {}, room, pass.moment});
    return chain.output(layout, room);
  };
  const kernels::ConstMatrix branch = run(*branch_, r.branch);
  const kernels::ConstMatrix other = shortcut_ ? run(*shortcut_, r.shortcut) : pass.x;
  const Matrix sum = saves_input() ? pass.saved : pass.y;
  add_matrices(pass.backend, branch, other, sum);
  if (function_.f != Activation::kLinear) pass.backend.activate(function_.f, sum, pass.y);
}

void Residual::backward(const BackwardPass& pass) const {
  const Layout layout = pass.backend.info().layout;
  const Rooms r = rooms(pass.room, layout);
  const auto run = [&](const Chain& chain, const Room& room, Matrix dx) {
    pass.backend.activate(Activation::kLinear, pass.dz, chain.output_gradient(layout, room));
    BackwardPass inner = pass;
    inner.y = inner.dz = inner.input_saved = {};
    inner.input_function = Activation::kLinear;
    inner.dx = dx;
    inner.room = room;
    chain.backward(inner);
  };
  run(*branch_, r.branch, pass.dx);
  if (shortcut_) run(*shortcut_, r.shortcut, pass.dx ? r.shortcut_dx : Matrix{});
  if (!pass.dx) return;
  add_matrices(pass.backend, pass.dx, shortcut_ ? kernels::ConstMatrix(r.shortcut_dx) : pass.dz, pass.dx);
  pass.finish_dx();
}

}  // namespace mirrorscale::strategies

#include "strategies/engine/reshape.h"

#include <stdexcept>

namespace mirrorscale::strategies {

using kernels::Activation;
using kernels::Matrix;

Shape Reshape::build(const Shape& in, const BuildPlan& plan) {
  const Shape out = to_.channels == 0 ? Shape(in.size()) : to_;
  const std::string who = "[" + kind() + "] '" + plan.name + "'";
  if (out.size() != in.size()) {
    throw std::invalid_argument(who + " makes " + to_string(out) + " of " + to_string(in) + ", which has " +
                                std::to_string(in.size()) + " numbers, not " + std::to_string(out.size()));
  }
  take_place(in_, in, plan.name);
  out_ = out;
  return out;
}

/// Of the plain row between two shapes of several rows a sample.
std::size_t Reshape::row_size(int samples) const {
  return in_->rows() > 1 && out_.rows() > 1 ? kernels::activation_size(samples, in_->size()) : 0;
}

Matrix Reshape::row(const Room& room, float* data, kernels::Layout layout) const {
  return kernels::activation_view(layout, data, room.samples, in_->size(), room.capacity);
}

void Reshape::forward(const ForwardPass& pass) const {
  if (in_->rows() == 1 && out_.rows() == 1) return pass.backend.activate(Activation::kLinear, pass.x, pass.y);
  if (out_.rows() == 1) return pass.backend.pack_pixels(in_->rows(), pass.x, pass.y);
  if (in_->rows() == 1)
    return pass.backend.unpack_pixels(out_.rows(), pass.x, Activation::kLinear, {}, pass.y);
  const Matrix plain = row(pass.room, pass.room.scratch, pass.backend.info().layout);
  pass.backend.pack_pixels(in_->rows(), pass.x, plain);
  pass.backend.unpack_pixels(out_.rows(), plain, Activation::kLinear, {}, pass.y);
}

void Reshape::backward(const BackwardPass& pass) const {
  if (!pass.dx) return;
  if (in_->rows() == 1) {
    if (out_.rows() == 1) return pass.hand_dz_on();
    pass.backend.pack_pixels(out_.rows(), pass.dz, pass.dx);
    return pass.finish_dx();
  }
  kernels::ConstMatrix plain = pass.dz;
  if (out_.rows() > 1) {
    const Matrix between = row(pass.room, pass.room.scratch, pass.backend.info().layout);
    pass.backend.pack_pixels(out_.rows(), pass.dz, between);
    plain = between;
  }
  pass.backend.unpack_pixels(in_->rows(), plain, pass.input_function, pass.input_saved, pass.dx);
}

LayerPtr flatten() {
  return std::make_shared<Reshape>(Shape());
}
LayerPtr reshape(const Shape& to) {
  return std::make_shared<Reshape>(to);
}

}  // namespace mirrorscale::strategies

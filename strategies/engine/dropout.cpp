#include "strategies/engine/dropout.h"

#include <stdexcept>

namespace mirrorscale::strategies {

DropoutLayer::DropoutLayer(double rate) : rate_(static_cast<float>(rate)) {
  if (!(rate >= 0 && rate < 1)) {
    throw std::invalid_argument("[dropout] rate is " + std::to_string(rate) + "; needs a share in [0, 1)");
  }
}

Shape DropoutLayer::build(const Shape& in, const BuildPlan& plan) {
  rows_ = in.rows();
  layer_ = 2166136261U;  // FNV-1a of the name
  for (const char c : plan.name) layer_ = (layer_ ^ static_cast<unsigned char>(c)) * 16777619U;
  return in;
}

kernels::Dropout DropoutLayer::at(const Moment& moment) const {
  kernels::Dropout which = kernels::Dropout::of(rate_, rows_, moment.seed, layer_, moment.step);
  which.first_sample = moment.first_row;
  return which;
}

void DropoutLayer::forward(const ForwardPass& pass) const {
  if (acts(pass.moment)) {
    pass.backend.dropout(at(pass.moment), pass.x, pass.y);
  } else {
    pass.backend.activate(kernels::Activation::kLinear, pass.x, pass.y);
  }
}

void DropoutLayer::backward(const BackwardPass& pass) const {
  if (!pass.dx) return;
  if (!acts(pass.moment)) return pass.hand_dz_on();
  pass.backend.dropout(at(pass.moment), pass.dz, pass.dx);
  pass.finish_dx();
}

}  // namespace mirrorscale::strategies

#include "strategies/engine/pooling.h"

#include <stdexcept>

namespace mirrorscale::strategies {

std::string Pooling::kind() const {
  return kind_ == PoolingKind::kMax       ? "max_pool"
         : kind_ == PoolingKind::kAverage ? "average_pool"
                                          : "global_average_pool";
}

Shape Pooling::build(const Shape& in, const BuildPlan& plan) {
  const std::string who = "[" + kind() + "] '" + plan.name + "'";
  require_pixels(who, in);
  const bool global = kind_ == PoolingKind::kGlobalAverage;
  const kernels::Window window =
      window_over(who, in, global ? Sliding{.size = {in.height, in.width}} : sliding_);
  for (const kernels::WindowAxis& axis : {window.y, window.x}) {
    if (axis.pad >= axis.size * axis.dilation) {
      throw std::invalid_argument(who + " has windows with nothing but padding; make the dilation smaller");
    }
  }
  take_place(window_, window, plan.name);
  return {window.y.out, window.x.out, in.channels};
}

void Pooling::forward(const ForwardPass& pass) const {
  if (kind_ == PoolingKind::kMax) {
    pass.backend.max_pool(*window_, pass.x, pass.y);
  } else {
    pass.backend.average_pool(*window_, pass.x, pass.y);
  }
}

void Pooling::backward(const BackwardPass& pass) const {
  if (!pass.dx) return;
  if (kind_ == PoolingKind::kMax) {
    pass.backend.max_pool_backward(*window_, pass.x, pass.dz, pass.input_function, pass.input_saved, pass.dx);
  } else {
    pass.backend.average_pool_backward(*window_, pass.dz, pass.input_function, pass.input_saved, pass.dx);
  }
}

namespace {
LayerPtr pool(PoolingKind kind, const Both& size, int stride, const std::string& padding) {
  return std::make_shared<Pooling>(kind, Sliding{size, stride == 0 ? size : Both(stride), 1, padding});
}
}  // namespace

LayerPtr max_pool(const Both& size, int stride, const std::string& padding) {
  return pool(PoolingKind::kMax, size, stride, padding);
}
LayerPtr average_pool(const Both& size, int stride, const std::string& padding) {
  return pool(PoolingKind::kAverage, size, stride, padding);
}
LayerPtr global_average_pool() {
  return std::make_shared<Pooling>(PoolingKind::kGlobalAverage, Sliding{});
}

}  // namespace mirrorscale::strategies

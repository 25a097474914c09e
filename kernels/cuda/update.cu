// Optimizer steps over an arena, one pass.
#include "kernels/cuda/fours.h"
#include "kernels/cuda/launch.h"
#include "kernels/exact/scalar.h"

namespace mirrorscale::kernels::cuda {
namespace {

template <exact::Momentum kMomentum>
__global__ void __launch_bounds__(kFoursThreads)
    sgd_kernel(const float* gradient, float* w, float* m, std::size_t fours, Sgd update) {
  const auto i = global_thread();
  if (i >= fours) return;
  const float4 g = load4(gradient + i * 4);
  float4 weight = load4(w + i * 4), momentum = make_float4(0, 0, 0, 0);
  if constexpr (kMomentum != exact::Momentum::kNone) momentum = load4(m + i * 4);
  exact::sgd_step<kMomentum>(update, g.x, weight.x, momentum.x);
  exact::sgd_step<kMomentum>(update, g.y, weight.y, momentum.y);
  exact::sgd_step<kMomentum>(update, g.z, weight.z, momentum.z);
  exact::sgd_step<kMomentum>(update, g.w, weight.w, momentum.w);
  store4(weight, w + i * 4);
  if constexpr (kMomentum != exact::Momentum::kNone) store4(momentum, m + i * 4);
}

__global__ void __launch_bounds__(kFoursThreads)
    adam_kernel(const float* gradient, float* w, float* m, float* v, std::size_t fours, Adam update) {
  const auto i = global_thread();
  if (i >= fours) return;
  const float4 g = load4(gradient + i * 4);
  float4 weight = load4(w + i * 4), mean = load4(m + i * 4), square = load4(v + i * 4);
  exact::adam_step(update, g.x, weight.x, mean.x, square.x);
  exact::adam_step(update, g.y, weight.y, mean.y, square.y);
  exact::adam_step(update, g.z, weight.z, mean.z, square.z);
  exact::adam_step(update, g.w, weight.w, mean.w, square.w);
  store4(weight, w + i * 4);
  store4(mean, m + i * 4);
  store4(square, v + i * 4);
}

}  // namespace

cudaError_t launch_sgd(cudaStream_t stream, std::size_t count, const Sgd& update, const float* gradient,
                       float* w, float* m) {
  using exact::Momentum;
  const auto kernel = update.momentum == 0 ? &sgd_kernel<Momentum::kNone>
                      : update.nesterov    ? &sgd_kernel<Momentum::kNesterov>
                                           : &sgd_kernel<Momentum::kPlain>;
  return launch(fours_launch("sgd", stream, count / 4), kernel, gradient, w, m, count / 4, update);
}

cudaError_t launch_adam(cudaStream_t stream, std::size_t count, const Adam& update, const float* gradient,
                        float* w, float* m, float* v) {
  return launch(fours_launch("adam", stream, count / 4), &adam_kernel, gradient, w, m, v, count / 4, update);
}

}  // namespace mirrorscale::kernels::cuda

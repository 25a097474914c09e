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
  for_each_of_four([&](auto&... each) { exact::sgd_step<kMomentum>(update, each...); }, g, weight, momentum);
  store4(weight, w + i * 4);
  if constexpr (kMomentum != exact::Momentum::kNone) store4(momentum, m + i * 4);
}

__global__ void __launch_bounds__(kFoursThreads)
    adam_kernel(const float* gradient, float* w, float* m, float* v, std::size_t fours, Adam update) {
  const auto i = global_thread();
  if (i >= fours) return;
  const float4 g = load4(gradient + i * 4);
  float4 weight = load4(w + i * 4), mean = load4(m + i * 4), square = load4(v + i * 4);
  for_each_of_four([&](auto&... each) { exact::adam_step(update, each...); }, g, weight, mean, square);
  store4(weight, w + i * 4);
  store4(mean, m + i * 4);
  store4(square, v + i * 4);
}

__global__ void __launch_bounds__(kFoursThreads)
    amsgrad_kernel(const float* gradient, float* w, float* m, float* v, float* largest, std::size_t fours,
                   Adam update) {
  const auto i = global_thread();
  if (i >= fours) return;
  const float4 g = load4(gradient + i * 4);
  float4 weight = load4(w + i * 4), mean = load4(m + i * 4), square = load4(v + i * 4),
         most = load4(largest + i * 4);
  for_each_of_four([&](auto&... each) { exact::amsgrad_step(update, each...); }, g, weight, mean, square,
                   most);
  store4(weight, w + i * 4);
  store4(mean, m + i * 4);
  store4(square, v + i * 4);
  store4(most, largest + i * 4);
}

template <bool kCentred, bool kMomentum>
__global__ void __launch_bounds__(kFoursThreads)
    rms_prop_kernel(const float* gradient, float* w, float* v, float* a, float* m, std::size_t fours,
                    RmsProp update) {
  const auto i = global_thread();
  if (i >= fours) return;
  const float4 g = load4(gradient + i * 4);
  float4 weight = load4(w + i * 4), square = load4(v + i * 4);
  float4 mean = make_float4(0, 0, 0, 0), moment = make_float4(0, 0, 0, 0);
  if constexpr (kCentred) mean = load4(a + i * 4);
  if constexpr (kMomentum) moment = load4(m + i * 4);
  for_each_of_four([&](auto&... each) { exact::rms_prop_step<kCentred, kMomentum>(update, each...); }, g,
                   weight, square, mean, moment);
  store4(weight, w + i * 4);
  store4(square, v + i * 4);
  if constexpr (kCentred) store4(mean, a + i * 4);
  if constexpr (kMomentum) store4(moment, m + i * 4);
}

__global__ void __launch_bounds__(kFoursThreads)
    adagrad_kernel(const float* gradient, float* w, float* a, std::size_t fours, Adagrad update) {
  const auto i = global_thread();
  if (i >= fours) return;
  const float4 g = load4(gradient + i * 4);
  float4 weight = load4(w + i * 4), sum = load4(a + i * 4);
  for_each_of_four([&](auto&... each) { exact::adagrad_step(update, each...); }, g, weight, sum);
  store4(weight, w + i * 4);
  store4(sum, a + i * 4);
}

__global__ void __launch_bounds__(kFoursThreads)
    lamb_direction_kernel(const float* gradient, const float* w, float* m, float* v, float* u,
                          std::size_t fours, Lamb update) {
  const auto i = global_thread();
  if (i >= fours) return;
  float4 g = load4(gradient + i * 4);
  const float4 weight = load4(w + i * 4);
  float4 mean = load4(m + i * 4), square = load4(v + i * 4);
  for_each_of_four([&](float& at, float of, float& first,
                       float& second) { at = exact::lamb_direction(update, at, of, first, second); },
                   g, weight, mean, square);
  store4(g, u + i * 4);
  store4(mean, m + i * 4);
  store4(square, v + i * 4);
}

__global__ void __launch_bounds__(kFoursThreads)
    average_kernel(const float* w, float* a, std::size_t fours, float one_minus_momentum) {
  const auto i = global_thread();
  if (i >= fours) return;
  const float4 weight = load4(w + i * 4);
  float4 mean = load4(a + i * 4);
  for_each_of_four([&](float& at, float of) { at = exact::moved_average(one_minus_momentum, of, at); }, mean,
                   weight);
  store4(mean, a + i * 4);
}

__global__ void __launch_bounds__(kFoursThreads)
    effective_gradient_kernel(const float* sum, const float* w, float* g, std::size_t fours,
                              GradientTerms terms, float most) {
  const auto i = global_thread();
  if (i >= fours) return;
  float4 s = load4(sum + i * 4);
  const float4 weight = load4(w + i * 4);
  for_each_of_four([&](float& at, float of) { at = exact::limited_gradient(terms, most, at, of); }, s,
                   weight);
  store4(s, g + i * 4);
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

cudaError_t launch_amsgrad(cudaStream_t stream, std::size_t count, const Adam& update, const float* gradient,
                           float* w, float* m, float* v, float* largest) {
  return launch(fours_launch("amsgrad", stream, count / 4), &amsgrad_kernel, gradient, w, m, v, largest,
                count / 4, update);
}

cudaError_t launch_rms_prop(cudaStream_t stream, std::size_t count, const RmsProp& update,
                            const float* gradient, float* w, float* v, float* a, float* m) {
  const auto kernel = a != nullptr
                          ? (m != nullptr ? &rms_prop_kernel<true, true> : &rms_prop_kernel<true, false>)
                          : (m != nullptr ? &rms_prop_kernel<false, true> : &rms_prop_kernel<false, false>);
  return launch(fours_launch("rms_prop", stream, count / 4), kernel, gradient, w, v, a, m, count / 4, update);
}

cudaError_t launch_adagrad(cudaStream_t stream, std::size_t count, const Adagrad& update,
                           const float* gradient, float* w, float* a) {
  return launch(fours_launch("adagrad", stream, count / 4), &adagrad_kernel, gradient, w, a, count / 4,
                update);
}

cudaError_t launch_lamb_direction(cudaStream_t stream, std::size_t count, const Lamb& update,
                                  const float* gradient, const float* w, float* m, float* v, float* u) {
  return launch(fours_launch("lamb_direction", stream, count / 4), &lamb_direction_kernel, gradient, w, m, v,
                u, count / 4, update);
}

cudaError_t launch_average(cudaStream_t stream, std::size_t count, float one_minus_momentum, const float* w,
                           float* a) {
  return launch(fours_launch("average", stream, count / 4), &average_kernel, w, a, count / 4,
                one_minus_momentum);
}

cudaError_t launch_effective_gradient(cudaStream_t stream, std::size_t count, const GradientTerms& terms,
                                      float most, const float* sum, const float* w, float* g) {
  return launch(fours_launch("effective_gradient", stream, count / 4), &effective_gradient_kernel, sum, w, g,
                count / 4, terms, most);
}

}  // namespace mirrorscale::kernels::cuda

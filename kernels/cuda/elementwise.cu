// Ops that work on each element by itself: 4 of them, 16 bytes, a thread. Padding takes part; it stays
// finite.
#include "kernels/cuda/fours.h"
#include "kernels/cuda/launch.h"
#include "kernels/exact/scalar.h"

namespace mirrorscale::kernels::cuda {
namespace {

template <Activation kFunction>
__global__ void __launch_bounds__(kFoursThreads)
    activate_kernel(const float* z, float* y, std::size_t fours) {
  const auto i = global_thread();
  if (i >= fours) return;
  float4 v = load4(z + i * 4);
  for_each_of_four([](float& x) { x = exact::activated<kFunction>(x); }, v);
  store4(v, y + i * 4);
}

template <Activation kFunction>
__global__ void __launch_bounds__(kFoursThreads)
    activate_backward_kernel(const float* saved, const float* dy, float* dz, std::size_t fours) {
  const auto i = global_thread();
  if (i >= fours) return;
  const float4 s = load4(saved + i * 4);
  float4 v = load4(dy + i * 4);
  for_each_of_four([](float& g, float from) { g = exact::times_derivative<kFunction>(g, from); }, v, s);
  store4(v, dz + i * 4);
}

__global__ void __launch_bounds__(kFoursThreads)
    add_kernel(const float* a, const float* b, float* sum, std::size_t fours) {
  const auto i = global_thread();
  if (i >= fours) return;
  const float4 x = load4(a + i * 4), y = load4(b + i * 4);
  store4(make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w), sum + i * 4);
}

__global__ void __launch_bounds__(kFoursThreads)
    row_weights_kernel(const float* weights, std::size_t rows, float* out, std::size_t stride) {
  const auto row = global_thread();
  if (row < rows) out[row * stride] = weights == nullptr ? 1.0F : weights[row];
}

template <class Half>
struct alignas(8) FourHalves {
  Half at[4];
};
struct ToBfloat16 {
  using Half = __nv_bfloat16;
  __device__ static Half of(float x) { return __float2bfloat16_rn(x); }
};
struct ToFloat16 {
  using Half = __half;
  __device__ static Half of(float x) { return __float2half_rn(x); }
};
template <class To>
__global__ void __launch_bounds__(kFoursThreads)
    to_halves_kernel(const float* from, FourHalves<typename To::Half>* to, std::size_t fours) {
  const auto i = global_thread();
  if (i >= fours) return;
  const float4 v = load4(from + i * 4);
  FourHalves<typename To::Half> out;
  out.at[0] = To::of(v.x);
  out.at[1] = To::of(v.y);
  out.at[2] = To::of(v.z);
  out.at[3] = To::of(v.w);
  to[i] = out;
}

template <class To>
cudaError_t launch_to_halves(const char* name, cudaStream_t stream, std::size_t count, const float* from,
                             void* to) {
  return launch(fours_launch(name, stream, count / 4), &to_halves_kernel<To>, from,
                static_cast<FourHalves<typename To::Half>*>(to), count / 4);
}

std::size_t fours_of(Matrix m) {
  return static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.row_stride) / 4;
}

}  // namespace

cudaError_t launch_activate(cudaStream_t stream, Activation f, ConstMatrix z, Matrix y) {
  cudaError_t status = cudaSuccess;
  exact::with_activation(f, [&](auto function) {
    status = launch(fours_launch("activate", stream, fours_of(y)), &activate_kernel<function()>, z.data,
                    y.data, fours_of(y));
  });
  return status;
}

cudaError_t launch_activate_backward(cudaStream_t stream, Activation f, ConstMatrix saved, ConstMatrix dy,
                                     Matrix dz) {
  if (f == Activation::kLinear) saved = dy;  // `saved` may be absent
  cudaError_t status = cudaSuccess;
  exact::with_activation(f, [&](auto function) {
    status = launch(fours_launch("activate_backward", stream, fours_of(dz)),
                    &activate_backward_kernel<function()>, saved.data, dy.data, dz.data, fours_of(dz));
  });
  return status;
}

cudaError_t launch_add(cudaStream_t stream, std::size_t count, const float* a, const float* b, float* sum) {
  return launch(fours_launch("add", stream, count / 4), &add_kernel, a, b, sum, count / 4);
}

cudaError_t launch_row_weights(cudaStream_t stream, const float* weights, int rows, Column out) {
  const auto count = static_cast<std::size_t>(rows);
  return launch(fours_launch("row_weights", stream, count), &row_weights_kernel, weights, count, out.data,
                out.stride);
}

cudaError_t launch_to_bfloat16(cudaStream_t stream, std::size_t count, const float* from, void* to) {
  return launch_to_halves<ToBfloat16>("to_bfloat16", stream, count, from, to);
}
cudaError_t launch_to_float16(cudaStream_t stream, std::size_t count, const float* from, void* to) {
  return launch_to_halves<ToFloat16>("to_float16", stream, count, from, to);
}

}  // namespace mirrorscale::kernels::cuda

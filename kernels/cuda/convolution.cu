// Convolutions and their input gradients: a thread makes one column of a few rows, each one FMA chain.
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/launch.h"
#include "kernels/exact/scalar.h"

namespace mirrorscale::kernels::cuda {
namespace {

constexpr int kLanes = 32, kGroups = 8;  // of a block of threads: neighbouring columns, and groups of rows
constexpr int kPixels = 4;               // rows of a group

/// A matrix in rows, as kernels take it.
struct Rows {
  const float* data;
  std::ptrdiff_t stride;
  __device__ const float* row(int r) const { return data + r * stride; }
};
Rows rows_of(ConstMatrix m) {
  return {m.data, m.row_stride};
}

__device__ __forceinline__ int this_column() {
  return static_cast<int>(blockIdx.y) * kLanes + static_cast<int>(threadIdx.x) % kLanes;
}
__device__ __forceinline__ int this_group() {
  return static_cast<int>(blockIdx.x) * kGroups + static_cast<int>(threadIdx.x) / kLanes;
}

/// Where the channels of the group lie that output `row` sees through a tap; null for padding.
__device__ __forceinline__ const float* source_of(const Convolution& g, Rows x, int row, int ky, int kx,
                                                  int first_channel) {
  const WindowAxis &vertical = g.window.y, &horizontal = g.window.x;
  const int sample = row / g.window.out_pixels(), o = row % g.window.out_pixels();
  const int y = vertical.source(o / horizontal.out, ky), from = horizontal.source(o % horizontal.out, kx);
  if (y < 0 || y >= vertical.in || from < 0 || from >= horizontal.in) return nullptr;
  const int pixel = y * horizontal.in + from;
  return g.packed ? x.row(sample) + pixel * g.channels
                  : x.row(sample * g.window.in_pixels() + pixel) + first_channel;
}

template <Activation kFunction>
__global__ void __launch_bounds__(kLanes* kGroups)
    convolve_kernel(Convolution g, Rows x, Rows w, const float* bias, float* y, int y_stride, int rows) {
  const int column = this_column(), first = this_group() * kPixels;
  if (column >= y_stride || first >= rows) return;
  const int count = rows - first < kPixels ? rows - first : kPixels;
  const bool real = column < g.filters;
  const int first_channel = real ? column / g.group_filters() * g.group_channels() : 0;
  float sums[kPixels] = {};
  for (int tap = 0; real && tap < g.window.taps(); ++tap) {
    const int ky = tap / g.window.x.size, kx = tap % g.window.x.size;
    const float* from[kPixels];
    for (int i = 0; i < kPixels; ++i)
      from[i] = i < count ? source_of(g, x, first + i, ky, kx, first_channel) : nullptr;
    const float* weight = w.row(g.kernel_row(tap, 0)) + column;
    for (int c = 0; c < g.group_channels(); ++c, weight += w.stride) {
      const float factor = *weight;
      MIRRORSCALE_UNROLL for (int i = 0; i < kPixels; ++i) {
        sums[i] = number::fma(from[i] == nullptr ? 0.0F : from[i][c], factor, sums[i]);
      }
    }
  }
  for (int i = 0; i < count; ++i) {
    const float sum = bias == nullptr || !real ? sums[i] : sums[i] + bias[column];
    y[static_cast<std::size_t>(first + i) * static_cast<std::size_t>(y_stride) + column] =
        real ? exact::activated<kFunction>(sum) : 0.0F;
  }
}

template <Activation kFunction>
__global__ void __launch_bounds__(kLanes* kGroups)
    convolve_backward_input_kernel(Convolution g, Rows dy, Rows wt, Rows saved, float* dx, int dx_stride,
                                   int rows) {
  const int column = this_column(), row = this_group();
  if (column >= dx_stride || row >= rows) return;
  const bool real = column < g.channels;
  const WindowAxis &vertical = g.window.y, &horizontal = g.window.x;
  const int sample = row / g.window.in_pixels(), i = row % g.window.in_pixels();
  const int group = real ? column / g.group_channels() : 0, first = group * g.group_filters();
  float sum = 0;
  for (int tap = 0; real && tap < g.window.taps(); ++tap) {
    const int ky = tap / horizontal.size, kx = tap % horizontal.size;
    const int y = i / horizontal.in, x = i % horizontal.in;
    if (!vertical.has_output(y, ky) || !horizontal.has_output(x, kx)) continue;
    const int oy = vertical.output_of(y, ky), ox = horizontal.output_of(x, kx);
    const bool inside = oy >= 0 && oy < vertical.out && ox >= 0 && ox < horizontal.out;
    const float* from =
        inside ? dy.row(sample * g.window.out_pixels() + oy * horizontal.out + ox) + first : nullptr;
    const float* weight = wt.row(first) + g.kernel_row(tap, column % g.group_channels());
    for (int f = 0; f < g.group_filters(); ++f, weight += wt.stride)
      sum = number::fma(inside ? from[f] : 0.0F, *weight, sum);
  }
  if (kFunction != Activation::kLinear && real)
    sum = exact::times_derivative<kFunction>(sum, saved.row(row)[column]);
  dx[static_cast<std::size_t>(row) * static_cast<std::size_t>(dx_stride) + column] = real ? sum : 0.0F;
}

Launch launch_over(const char* name, cudaStream_t stream, int rows, int rows_a_group, int row_stride) {
  return {
      .name = name,
      .blocks = blocks_of(static_cast<std::size_t>(rows), static_cast<std::size_t>(kGroups * rows_a_group)),
      .threads = kLanes * kGroups,
      .stream = stream,
      .columns = static_cast<unsigned>(blocks_of(static_cast<std::size_t>(row_stride), kLanes))};
}

}  // namespace

cudaError_t launch_convolve(cudaStream_t stream, const Convolution& g, ConstMatrix x, ConstMatrix w,
                            const float* b, Activation f, Matrix y) {
  cudaError_t status = cudaSuccess;
  exact::with_activation(f, [&](auto function) {
    status = launch(launch_over("convolve", stream, y.rows, kPixels, y.row_stride),
                    &convolve_kernel<function()>, g, rows_of(x), rows_of(w), b, y.data, y.row_stride, y.rows);
  });
  return status;
}

cudaError_t launch_convolve_backward_input(cudaStream_t stream, const Convolution& g, ConstMatrix dy,
                                           ConstMatrix wt, Activation f, ConstMatrix saved, Matrix dx) {
  cudaError_t status = cudaSuccess;
  exact::with_activation(f, [&](auto function) {
    status = launch(launch_over("convolve_backward_input", stream, dx.rows, 1, dx.row_stride),
                    &convolve_backward_input_kernel<function()>, g, rows_of(dy), rows_of(wt), rows_of(saved),
                    dx.data, dx.row_stride, dx.rows);
  });
  return status;
}

}  // namespace mirrorscale::kernels::cuda

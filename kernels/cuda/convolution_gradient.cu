// Weight gradients of convolutions: micro-shards side by side, then the tree over them.
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tree.h"
#include "kernels/exact/number.h"

namespace mirrorscale::kernels::cuda {
namespace {

constexpr int kColumns = 32, kLeaves = 8;  // of a block of threads: filters, micro-shards at a time

struct OneSum {
  float value;
  __device__ void add_to(const OneSum& left) { value = left.value + value; }
};

struct Gradient {
  const float *x, *dy;
  int x_stride, dy_stride;
  int samples, shard_samples;
  float* dw;
  std::ptrdiff_t dw_stride;  // as wide as a pointer: no padding, see tests/emulated_cuda/launch.h
};

/// The chain of one element of dw over samples first .. last - 1.
__device__ float leaf_sum(const Convolution& g, const Gradient& a, int tap, int channel, int filter,
                          int first, int last) {
  const WindowAxis &vertical = g.window.y, &horizontal = g.window.x;
  const int ky = tap / horizontal.size, kx = tap % horizontal.size;
  float sum = 0;
  for (int sample = first; sample < last; ++sample) {
    const float* dy =
        a.dy +
        static_cast<std::size_t>(sample * g.window.out_pixels()) * static_cast<std::size_t>(a.dy_stride) +
        filter;
    const float* image = a.x +
                         static_cast<std::size_t>(g.packed ? sample : sample * g.window.in_pixels()) *
                             static_cast<std::size_t>(a.x_stride) +
                         channel;
    const int step = g.packed ? g.channels : a.x_stride;
    for (int oy = 0; oy < vertical.out; ++oy) {
      const int y = vertical.source(oy, ky);
      for (int ox = 0; ox < horizontal.out; ++ox, dy += a.dy_stride) {
        const int x = horizontal.source(ox, kx);
        const bool inside = y >= 0 && y < vertical.in && x >= 0 && x < horizontal.in;
        sum = number::fma(inside ? image[(y * horizontal.in + x) * step] : 0.0F, *dy, sum);
      }
    }
  }
  return sum;
}

/// Thread (leaf, filter) of block (filters, row of dw) adds up a micro-shard; then the block joins its
/// leaves, a complete subtree but for the last ones.
__global__ void __launch_bounds__(kColumns* kLeaves)
    convolve_backward_weights_kernel(Convolution g, Gradient a) {
  __shared__ float leaves[kLeaves][kColumns];
  const int lane = static_cast<int>(threadIdx.x) % kColumns, leaf = static_cast<int>(threadIdx.x) / kColumns;
  const int filter = static_cast<int>(blockIdx.y) * kColumns + lane, row = static_cast<int>(blockIdx.x);
  const int tap = row / g.tap_rows(), c = row % g.tap_rows();
  const bool real = row < g.kernel_rows() && c < g.group_channels() && filter < g.filters;
  const int channel = real ? filter / g.group_filters() * g.group_channels() + c : 0;
  const int all = (a.samples + a.shard_samples - 1) / a.shard_samples;
  TreeStack<OneSum, 31> tree;
  OneSum whole{0};
  for (int first = 0; first < all; first += kLeaves) {
    const int count = all - first < kLeaves ? all - first : kLeaves;
    if (leaf < count && real) {
      const int from = (first + leaf) * a.shard_samples,
                until = a.samples < from + a.shard_samples ? a.samples : from + a.shard_samples;
      leaves[leaf][lane] = leaf_sum(g, a, tap, channel, filter, from, until);
    }
    __syncthreads();
    for (int step = 1; step < kLeaves; step *= 2) {
      if (leaf % (2 * step) == 0 && leaf + step < count && real)
        leaves[leaf][lane] = leaves[leaf][lane] + leaves[leaf + step][lane];
      __syncthreads();
    }
    if (leaf == 0 && real) {
      whole.value = leaves[0][lane];
      tree.push(whole, first / kLeaves, 0, first + kLeaves >= all);
    }
    __syncthreads();
  }
  if (leaf == 0 && filter < a.dw_stride) {
    a.dw[row * a.dw_stride + filter] = real ? whole.value : 0.0F;
  }
}

}  // namespace

cudaError_t launch_convolve_backward_weights(cudaStream_t stream, const Convolution& g, ConstMatrix x,
                                             ConstMatrix dy, int shard_samples, Matrix dw) {
  const Gradient a{x.data,        dy.data, x.row_stride, dy.row_stride, dy.rows / g.window.out_pixels(),
                   shard_samples, dw.data, dw.row_stride};
  return launch(
      {.name = "convolve_backward_weights",
       .blocks = static_cast<std::size_t>(padded(dw.rows)),
       .threads = kColumns * kLeaves,
       .stream = stream,
       .columns = static_cast<unsigned>(blocks_of(static_cast<std::size_t>(dw.row_stride), kColumns))},
      &convolve_backward_weights_kernel, g, a);
}

}  // namespace mirrorscale::kernels::cuda

// wt = wᵀ, in blocks of 16 x 16, padding included.
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/launch.h"

namespace mirrorscale::kernels::cuda {
namespace {

__global__ void __launch_bounds__(kBlock) transpose_kernel(const float* w, int w_stride, int w_panels,
                                                           float* wt, int wt_stride, std::size_t first) {
  __shared__ float block[kPanel][kPanel + 1];
  const std::size_t number = first + blockIdx.x, in = static_cast<std::size_t>(w_panels);
  const std::size_t row = number % in * kPanel, column = number / in * kPanel;
  const std::size_t line = threadIdx.x / kPanel, lane = threadIdx.x % kPanel;
  block[line][lane] = w[(row + line) * static_cast<std::size_t>(w_stride) + column + lane];
  __syncthreads();
  wt[(column + line) * static_cast<std::size_t>(wt_stride) + row + lane] = block[lane][line];
}

}  // namespace

cudaError_t launch_transpose(cudaStream_t stream, ConstMatrix w, Matrix wt, std::size_t first_block,
                             std::size_t blocks) {
  return launch({.name = "transpose", .blocks = blocks, .threads = kBlock, .stream = stream},
                &transpose_kernel, w.data, w.row_stride, panels(w.rows), wt.data, wt.row_stride, first_block);
}

}  // namespace mirrorscale::kernels::cuda

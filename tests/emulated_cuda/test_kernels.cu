#include "emulated_cuda/test_gpu.h"
#include "emulated_cuda/test_kernels.h"

namespace mirrorscale::conformance {
namespace {

constexpr unsigned kBlock = 128;

__device__ std::size_t first() {
  return blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
}
__device__ std::size_t stride() {
  return gridDim.x * std::size_t{blockDim.x};
}

__global__ void __launch_bounds__(kBlock) fill_kernel(float* y, float value, std::size_t n) {
  for (std::size_t i = first(); i < n; i += stride()) y[i] = value;
}

__global__ void add_scaled_kernel(const float* __restrict__ x, float* __restrict__ y, float a,
                                  std::size_t n) {
  for (std::size_t i = first(); i < n; i += stride()) y[i] += a * x[i];
}

__global__ void slow_kernel(const float* x, float* y, float a, std::size_t n) {
  for (std::size_t i = first(); i < n; i += stride()) {
    float v = y[i];
    for (int turn = 0; turn < 200; ++turn) v = v * 1.0f + (turn == 0 ? a * x[i] : 0.0f);
    y[i] = v;
  }
}

template <bool kSynchronises>
__global__ void block_sums_kernel(const float* x, float* partial, std::size_t n) {
  __shared__ float sums[kBlock];
  float mine = 0;
  for (std::size_t i = first(); i < n; i += stride()) mine += x[i];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
    if (threadIdx.x < distance) sums[threadIdx.x] += sums[threadIdx.x + distance];
    if constexpr (kSynchronises) __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

__device__ float warp_sum(float value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

__global__ void row_sums_kernel(const float* x, float* sums, unsigned rows, unsigned columns) {
  const unsigned lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  float mine = 0;
  for (unsigned column = lane; column < columns; column += 32) mine += x[std::size_t{row} * columns + column];
  mine = warp_sum(mine);
  if (lane == 0) sums[row] = mine;
}

__global__ void histogram_kernel(const unsigned* x, unsigned* bins, std::size_t n, unsigned count) {
  unsigned* mine = dynamic_shared<unsigned>();
  for (unsigned bin = threadIdx.x; bin < count; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();
  for (std::size_t i = first(); i < n; i += stride()) atomicAdd(&mine[x[i] % count], 1u);
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < count; bin += blockDim.x) atomicAdd(&bins[bin], mine[bin]);
}

__global__ void warp_votes_kernel(unsigned* out) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned all = 0xffffffffu;
  unsigned results[8];
  results[0] = __ballot_sync(all, lane % 3 == 0);
  results[1] = static_cast<unsigned>(__any_sync(all, lane == 31 && warp == 1));
  results[2] = static_cast<unsigned>(__all_sync(all, lane < 32));
  results[3] = __shfl_sync(all, lane * 10, 7);
  results[4] = __shfl_up_sync(all, lane, 1);
  results[5] = __shfl_down_sync(all, lane, 4);
  results[6] = __shfl_xor_sync(all, lane, 5);
  results[7] = __shfl_down_sync(all, lane, 2, 8);
  if (lane == 13)
    for (unsigned i = 0; i < 8; ++i) out[warp * 8 + i] = results[i];
}

__global__ void last_block_kernel(const float* x, float* partial, unsigned* ticket, float* total,
                                  std::size_t n) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    float mine = 0;
    for (std::size_t i = blockIdx.x; i < n; i += gridDim.x) mine += x[i];
    partial[blockIdx.x] = mine;
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  __threadfence();
  float sum = 0;
  for (unsigned block = 0; block < gridDim.x; ++block) sum += partial[block];
  *total = sum;
}

__global__ void indices_kernel(unsigned* out) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  out[(z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x] = x + 100 * y + 10000 * z;
}

__global__ void intrinsics_kernel(float a, float b, float c, float* out) {
  out[0] = __fmaf_rn(a, b, c);
  out[1] = __fadd_rn(__fmul_rn(a, b), c);
  out[2] = __fdiv_rn(a, b);
  out[3] = __fsqrt_rn(b);
  out[4] = __uint_as_float(__float_as_uint(a) ^ 0x80000000u);
  out[5] = static_cast<float>(__popc(0xf0f0u) + __clz(1) + static_cast<int>(__umulhi(0x80000000u, 6u)));
}

__global__ void fill_view_kernel(View view, float value) {
  for (std::size_t i = first(); i < view.n; i += stride()) view.data[i] = value;
}

__global__ void too_many_kernel(float* y, std::size_t n) {
  const std::size_t i = first();
  if (i <= n) y[i] = 1;
}

__global__ void too_few_kernel(const float* x, float* out) {
  float* shared = dynamic_shared<float>();
  shared[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) *out = shared[blockDim.x - 1];
}

__global__ void leave_kernel() {
  if (threadIdx.x == 3) return;
  __syncthreads();
}

__global__ void divergent_kernel() {
  if (threadIdx.x % 2) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void half_a_warp_kernel(int* out) {
  if (threadIdx.x < 16) {
    const int got = __shfl_xor_sync(0xffffffffu, 1, 1);
    if (out) *out = got;
  }
  __syncthreads();
}

__global__ void racing_blocks_kernel(unsigned* out) {
  if (threadIdx.x == 0) out[0] = out[0] + blockIdx.x;
}

unsigned blocks_for(std::size_t n) {
  const std::size_t blocks = (n + kBlock - 1) / kBlock;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > 16 ? 16 : blocks);
}

}  // namespace

cudaError_t fill(float* y, float value, std::size_t n, cudaStream_t stream) {
  return launch({blocks_for(n), kBlock, 0, stream}, fill_kernel, y, value, n);
}
cudaError_t add_scaled(const float* x, float* y, float a, std::size_t n, cudaStream_t stream) {
  return launch({blocks_for(n), kBlock, 0, stream}, add_scaled_kernel, x, y, a, n);
}
cudaError_t add_scaled_slowly(const float* x, float* y, float a, std::size_t n, cudaStream_t stream) {
  return launch({blocks_for(n), kBlock, 0, stream}, slow_kernel, x, y, a, n);
}
cudaError_t block_sums(const float* x, float* partial, std::size_t n, unsigned blocks, cudaStream_t stream) {
  return launch({blocks, kBlock, 0, stream}, block_sums_kernel<true>, x, partial, n);
}
cudaError_t block_sums_unsynchronised(const float* x, float* partial, std::size_t n, unsigned blocks,
                                      cudaStream_t stream) {
  return launch({blocks, kBlock, 0, stream}, block_sums_kernel<false>, x, partial, n);
}
cudaError_t row_sums(const float* x, float* sums, unsigned rows, unsigned columns, cudaStream_t stream) {
  return launch({(rows * 32 + kBlock - 1) / kBlock, kBlock, 0, stream}, row_sums_kernel, x, sums, rows,
                columns);
}
cudaError_t histogram(const unsigned* x, unsigned* bins, std::size_t n, unsigned count, cudaStream_t stream) {
  return launch({4, kBlock, count * sizeof(unsigned), stream}, histogram_kernel, x, bins, n, count);
}
cudaError_t warp_votes(unsigned* out, cudaStream_t stream) {
  return launch({1, 64, 0, stream}, warp_votes_kernel, out);
}
cudaError_t total_by_last_block(const float* x, float* partial, unsigned* ticket, float* total, std::size_t n,
                                cudaStream_t stream) {
  return launch({8, 32, 0, stream}, last_block_kernel, x, partial, ticket, total, n);
}
cudaError_t indices(unsigned* out, cudaStream_t stream) {
  return launch({dim3(2, 3, 4), dim3(2, 2, 2), 0, stream}, indices_kernel, out);
}
cudaError_t intrinsics(float a, float b, float c, float* out, cudaStream_t stream) {
  return launch({1, 1, 0, stream}, intrinsics_kernel, a, b, c, out);
}
cudaError_t fill_view(View view, float value, cudaStream_t stream) {
  return launch({blocks_for(view.n), kBlock, 0, stream}, fill_view_kernel, view, value);
}
cudaError_t write_one_too_many(float* y, std::size_t n, cudaStream_t stream) {
  return launch({static_cast<unsigned>(n / kBlock + 1), kBlock, 0, stream}, too_many_kernel, y, n);
}
cudaError_t shared_one_too_few(const float* x, float* out, cudaStream_t stream) {
  return launch({1, kBlock, (kBlock - 1) * sizeof(float), stream}, too_few_kernel, x, out);
}
cudaError_t leave_before_barrier(cudaStream_t stream) {
  return launch({1, 64, 0, stream}, leave_kernel);
}
cudaError_t divergent_barrier(cudaStream_t stream) {
  return launch({1, 64, 0, stream}, divergent_kernel);
}
cudaError_t racing_blocks(unsigned* out, cudaStream_t stream) {
  return launch({64, 32, 0, stream}, racing_blocks_kernel, out);
}
cudaError_t half_a_warp(cudaStream_t stream) {
  return launch({1, 64, 0, stream}, half_a_warp_kernel, static_cast<int*>(nullptr));
}

}  // namespace mirrorscale::conformance

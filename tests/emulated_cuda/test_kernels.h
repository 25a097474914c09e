#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>

namespace mirrorscale::conformance {

/// y[i] = value
cudaError_t fill(float* y, float value, std::size_t n, cudaStream_t stream);
/// y[i] += a * x[i]
cudaError_t add_scaled(const float* x, float* y, float a, std::size_t n, cudaStream_t stream);
/// As add_scaled, slowly: for tests in which another stream must not be faster.
cudaError_t add_scaled_slowly(const float* x, float* y, float a, std::size_t n, cudaStream_t stream);
/// partial[b] = sum over block b's share of x; static shared memory, barriers.
cudaError_t block_sums(const float* x, float* partial, std::size_t n, unsigned blocks, cudaStream_t stream);
/// The same without the barriers, and with a block small enough for ThreadSanitizer to see it.
cudaError_t block_sums_unsynchronised(const float* x, float* partial, std::size_t n, unsigned blocks,
                                      cudaStream_t stream);
/// sums[row] by warp shuffles, a warp a row, partial last warp included.
cudaError_t row_sums(const float* x, float* sums, unsigned rows, unsigned columns, cudaStream_t stream);
/// bins[x[i] % count] += 1; dynamic shared memory and atomics.
cudaError_t histogram(const unsigned* x, unsigned* bins, std::size_t n, unsigned count, cudaStream_t stream);
/// out[w] of 8 words a warp: ballot, any, all, shfl, up, down, xor, segmented down; for one block of 64.
cudaError_t warp_votes(unsigned* out, cudaStream_t stream);
/// The last block of the grid, elected by __threadfence and atomicInc, adds all partial sums.
cudaError_t total_by_last_block(const float* x, float* partial, unsigned* ticket, float* total, std::size_t n,
                                cudaStream_t stream);
/// out[z][y][x] = x + 100 y + 10000 z over a grid and block of three dimensions, 4 × 6 × 8 threads.
cudaError_t indices(unsigned* out, cudaStream_t stream);
/// Correctly rounded intrinsics, 6 results.
cudaError_t intrinsics(float a, float b, float c, float* out, cudaStream_t stream);
/// A structure by value that holds a pointer.
struct View {
  float* data;
  std::size_t n;
};
cudaError_t fill_view(View view, float value, cudaStream_t stream);

/// Wrong kernels.
cudaError_t write_one_too_many(float* y, std::size_t n, cudaStream_t stream);
cudaError_t shared_one_too_few(const float* x, float* out, cudaStream_t stream);
cudaError_t leave_before_barrier(cudaStream_t stream);
cudaError_t divergent_barrier(cudaStream_t stream);
cudaError_t half_a_warp(cudaStream_t stream);
/// Every block adds to out[0] without atomics.
cudaError_t racing_blocks(unsigned* out, cudaStream_t stream);

}  // namespace mirrorscale::conformance

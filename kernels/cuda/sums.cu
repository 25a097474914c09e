// Sums over rows, and sums over an arena.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/row.h"
#include "kernels/cuda/tree.h"
#include "kernels/exact/number.h"

namespace mirrorscale::kernels::cuda {
namespace {

constexpr int kSumColumns = 32, kSumLeaves = 8;  // of a block of threads: kSumLeaves micro-shards at a time
constexpr int kSumThreads = kSumColumns * kSumLeaves;

struct OneSum {
  float value;
  __device__ void add_to(const OneSum& left) { value = left.value + value; }
};

/// Thread (leaf, column) adds up a micro-shard; then the block joins its leaves, a complete subtree but for
/// the last ones.
__global__ void __launch_bounds__(kSumThreads)
    sum_rows_kernel(const float* x, int stride, int rows, int columns, int shard_rows, float* sums) {
  __shared__ float leaves[kSumLeaves][kSumColumns];
  const int lane = static_cast<int>(threadIdx.x) % kSumColumns,
            leaf = static_cast<int>(threadIdx.x) / kSumColumns;
  const int column = static_cast<int>(blockIdx.x) * kSumColumns + lane;
  const int all = rows / shard_rows + (rows % shard_rows != 0 ? 1 : 0);
  TreeStack<OneSum, 31> tree;
  OneSum whole{0};
  for (int first = 0; first < all; first += kSumLeaves) {
    const int count = all - first < kSumLeaves ? all - first : kSumLeaves;
    if (leaf < count && column < columns) {
      const int from = (first + leaf) * shard_rows,
                steps = rows - from < shard_rows ? rows - from : shard_rows;
      const float* next = x + static_cast<std::size_t>(from) * static_cast<std::size_t>(stride) + column;
      float sum = 0;
      for (int i = 0; i < steps; ++i, next += stride) sum = sum + *next;
      leaves[leaf][lane] = sum;
    }
    __syncthreads();
    for (int step = 1; step < kSumLeaves; step *= 2) {
      if (leaf % (2 * step) == 0 && leaf + step < count && column < columns) {
        leaves[leaf][lane] = leaves[leaf][lane] + leaves[leaf + step][lane];
      }
      __syncthreads();
    }
    if (leaf == 0 && column < columns) {
      whole.value = leaves[0][lane];
      tree.push(whole, first / kSumLeaves, 0, first + kSumLeaves >= all);
    }
    __syncthreads();
  }
  if (leaf == 0 && column < padded(columns)) sums[column] = column < columns ? whole.value : 0.0F;
}

template <Norm kNorm>
__device__ __forceinline__ float joined(float sum, float w) {
  return kNorm == Norm::kSquares ? number::fma(w, w, sum) : sum + number::magnitude(w);
}

constexpr int kArenaThreads = 256, kArenaFloats = 4096;

/// The 16 chains are as long as the arena: 16 threads add, the others bring the next floats.
template <Norm kNorm>
__global__ void __launch_bounds__(kArenaThreads)
    arena_sum_kernel(const float* w, std::size_t count, float* sum) {
  __shared__ float4 tiles[2][kArenaFloats / 4];
  const int thread = static_cast<int>(threadIdx.x);
  const auto bring = [&](std::size_t first, int tile, int from, int threads) {
    for (int i = from; i < kArenaFloats / 4; i += threads) {
      const std::size_t at = first + static_cast<std::size_t>(i) * 4;
      if (at < count) tiles[tile][i] = load4(w + at);
    }
  };
  float chain = 0;
  bring(0, 0, thread, kArenaThreads);
  __syncthreads();
  int now = 0;
  for (std::size_t first = 0; first < count; first += kArenaFloats, now ^= 1) {
    if (thread >= 32) {
      bring(first + kArenaFloats, now ^ 1, thread - 32, kArenaThreads - 32);
    } else if (thread < kPanel) {
      const float* from = &tiles[now][0].x;
      const int floats = count - first < kArenaFloats ? static_cast<int>(count - first) : kArenaFloats;
      for (int i = thread; i < floats; i += kPanel) chain = joined<kNorm>(chain, from[i]);
    }
    __syncthreads();
  }
  if (thread >= 32) return;
  chain = sum_of_lanes(chain);
  if (thread == 0) *sum = chain;
}

/// 16 threads a block of 16 x 16: a column each.
__global__ void __launch_bounds__(kArenaThreads)
    squares_of_blocks_kernel(const float* w, int row_stride, int w_panels, std::size_t first,
                             std::size_t blocks, float* squares) {
  const std::size_t at = global_thread() / kPanel;
  const auto lane = static_cast<std::size_t>(threadIdx.x) % kPanel, in = static_cast<std::size_t>(w_panels);
  const std::size_t number = first + (at < blocks ? at : blocks - 1);  // all lanes of a warp take part
  const std::size_t row = number % in * kPanel, column = number / in * kPanel;
  float chain = 0;
  for (std::size_t r = 0; r < kPanel; ++r) {
    const float x = w[(row + r) * static_cast<std::size_t>(row_stride) + column + lane];
    chain = number::fma(x, x, chain);
  }
  chain = sum_of_lanes(chain);
  if (lane == 0 && at < blocks) squares[at] = chain;
}

/// A block's sum: its threads' chains, joined in halves.
__device__ __forceinline__ float sum_of_block(float chain, float* shared, int thread, int threads) {
  shared[thread] = chain;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] = shared[thread] + shared[thread + half];
    __syncthreads();
  }
  return shared[0];
}

template <Norm kNorm>
__global__ void __launch_bounds__(kArenaThreads)
    partial_sums_kernel(const float* w, std::size_t count, float* partial) {
  __shared__ float shared[kArenaThreads];
  float chain = 0;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = global_thread(); i < count / 4; i += step) {
    const float4 four = load4(w + i * 4);
    chain = joined<kNorm>(joined<kNorm>(joined<kNorm>(joined<kNorm>(chain, four.x), four.y), four.z), four.w);
  }
  const float sum = sum_of_block(chain, shared, static_cast<int>(threadIdx.x), kArenaThreads);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kPartialSums) join_partial_sums_kernel(const float* partial, float* sum) {
  __shared__ float shared[kPartialSums];
  const float all = sum_of_block(partial[threadIdx.x], shared, static_cast<int>(threadIdx.x), kPartialSums);
  if (threadIdx.x == 0) *sum = all;
}

}  // namespace

cudaError_t launch_sum_rows(cudaStream_t stream, ConstMatrix x, int shard_rows, float* sums) {
  const auto columns = static_cast<std::size_t>(x.columns);
  return launch({.name = "sum_rows",
                 .blocks = blocks_of(columns, kSumColumns),
                 .threads = kSumThreads,
                 .stream = stream},
                &sum_rows_kernel, x.data, x.row_stride, x.rows, x.columns, shard_rows, sums);
}

cudaError_t launch_squares_of_blocks(cudaStream_t stream, ConstMatrix w, std::size_t first_block,
                                     std::size_t blocks, float* squares) {
  return launch({.name = "squares_of_blocks",
                 .blocks = blocks_of(blocks * kPanel, kArenaThreads),
                 .threads = kArenaThreads,
                 .stream = stream},
                &squares_of_blocks_kernel, w.data, w.row_stride, panels(w.rows), first_block, blocks,
                squares);
}

cudaError_t launch_arena_sum(cudaStream_t stream, Norm norm, std::size_t count, const float* w, float* sum) {
  return launch(
      {.name = "arena_sum", .blocks = 1, .threads = kArenaThreads, .stream = stream},
      norm == Norm::kSquares ? &arena_sum_kernel<Norm::kSquares> : &arena_sum_kernel<Norm::kMagnitudes>, w,
      count, sum);
}

cudaError_t launch_fast_arena_sum(cudaStream_t stream, Norm norm, std::size_t count, const float* w,
                                  float* partial, float* sum) {
  const auto status = launch(
      {.name = "partial_sums", .blocks = kPartialSums, .threads = kArenaThreads, .stream = stream},
      norm == Norm::kSquares ? &partial_sums_kernel<Norm::kSquares> : &partial_sums_kernel<Norm::kMagnitudes>,
      w, count, partial);
  if (status != cudaSuccess) return status;
  return launch({.name = "join_partial_sums", .blocks = 1, .threads = kPartialSums, .stream = stream},
                &join_partial_sums_kernel, partial, sum);
}

}  // namespace mirrorscale::kernels::cuda

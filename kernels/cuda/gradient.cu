// Weight gradients, exact: chains inside micro-shards and the binary tree over them, in one kernel.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tile.h"
#include "kernels/cuda/tree.h"

namespace mirrorscale::kernels::cuda {
namespace {

// kDepth rows come at a time: one micro-shard of 32, two of 16, four of 8, eight of 4.
using SmallGradient = TileShape<32, 32, 32, 4, 4>;
using MediumGradient = TileShape<64, 64, 32, 4, 4>;
constexpr int kLevels = 10;     // of the tree where the micro-shards' size is known: below 1024 of them
constexpr int kAllLevels = 31;  // whatever there may be

struct GradientSize {
  int rows, in, out;
  int x_stride, dy_stride, dw_stride;
  int shard_rows;
};

/// The sum of rows first .. first + kCount - 1 of a slab, a complete subtree.
template <int kShard, int kCount, class Shape>
__device__ __forceinline__ void subtree(const Slab<Shape>& slab, int first, int thread, Outputs<Shape>& sum) {
  if constexpr (kCount <= kShard) {
    sum.clear();
    MIRRORSCALE_UNROLL for (int i = 0; i < kCount; ++i) step(slab, first + i, thread, sum);
  } else {
    Outputs<Shape> left;
    subtree<kShard, kCount / 2>(slab, first, thread, left);
    subtree<kShard, kCount / 2>(slab, first + kCount / 2, thread, sum);
    sum.add_to(left);
  }
}

/// dw = xᵀ · dy. kShard: the rows of a micro-shard, or 0 for size.shard_rows.
template <class Shape, int kShard, int kDepthOfTree>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    gradient_kernel(const float* x, const float* dy, float* dw, GradientSize size) {
  __shared__ Slab<Shape> slabs[2];
  const int thread = static_cast<int>(threadIdx.x);
  const int i0 = static_cast<int>(blockIdx.x) * Shape::kRows,
            c0 = static_cast<int>(blockIdx.y) * Shape::kColumns;
  Carried<Shape::kDepth, Shape::kRows, Shape::kThreads> left;
  Carried<Shape::kDepth, Shape::kColumns, Shape::kThreads> right;
  const auto fetch = [&](int row) {
    left.fetch(x, size.x_stride, size.rows, size.in, row, i0, thread);
    right.fetch(dy, size.dy_stride, size.rows, size.out, row, c0, thread);
  };
  const auto put = [&](Slab<Shape>& slab) {
    left.put(slab.left, thread);
    right.put(slab.right, thread);
  };

  TreeStack<Outputs<Shape>, kDepthOfTree> tree;
  Outputs<Shape> sum;
  sum.clear();
  fetch(0);
  put(slabs[0]);
  __syncthreads();
  int now = 0, leaf = 0, in_leaf = 0;
  for (int row = 0; row < size.rows; row += Shape::kDepth, now ^= 1) {
    const bool more = row + Shape::kDepth < size.rows;
    if (more) fetch(row + Shape::kDepth);
    if (kShard > 0 && row + Shape::kDepth <= size.rows) {
      constexpr int kKnown = kShard > 0 ? kShard : Shape::kDepth, kLeaves = Shape::kDepth / kKnown;
      subtree<kKnown, Shape::kDepth>(slabs[now], 0, thread, sum);
      leaf += kLeaves;
      tree.push(sum, leaf - 1, kLeaves - 1, row + Shape::kDepth == size.rows);
    } else {
      const int shard_rows = kShard > 0 ? kShard : size.shard_rows,
                steps = more ? Shape::kDepth : size.rows - row;
      for (int i = 0; i < steps; ++i) {
        if (in_leaf == 0) sum.clear();
        step(slabs[now], i, thread, sum);
        const bool last = row + i + 1 == size.rows;
        if (++in_leaf == shard_rows || last) {
          tree.push(sum, leaf++, 0, last);
          in_leaf = 0;
        }
      }
    }
    if (more) put(slabs[now ^ 1]);
    __syncthreads();
  }

  const int all_rows = padded(size.in), all_columns = padded(size.out);
  MIRRORSCALE_UNROLL for (int r = 0; r < Shape::kR; ++r) {
    const int i = i0 + Shape::row(thread, r);
    if (i >= all_rows) continue;
    MIRRORSCALE_UNROLL for (int n = 0; n < Shape::kC; n += 4) {
      const int c = c0 + Shape::column(thread, n);
      if (c >= all_columns) continue;
      float4 out = sum.four(r, n);
      if (i >= size.in || c >= size.out) out.x = 0;
      if (i >= size.in || c + 1 >= size.out) out.y = 0;
      if (i >= size.in || c + 2 >= size.out) out.z = 0;
      if (i >= size.in || c + 3 >= size.out) out.w = 0;
      store4(out, dw + static_cast<std::size_t>(i) * static_cast<std::size_t>(size.dw_stride) + c);
    }
  }
}

template <class Shape, int kShard, int kDepthOfTree>
cudaError_t launch_gradient(cudaStream_t stream, ConstMatrix x, ConstMatrix dy, int shard_rows, Matrix dw) {
  const GradientSize size{x.rows,        dw.rows,       dw.columns, x.row_stride,
                          dy.row_stride, dw.row_stride, shard_rows};
  const auto rows = static_cast<std::size_t>(dw.rows), columns = static_cast<std::size_t>(dw.columns);
  return launch({.name = "linear_backward_weights",
                 .blocks = blocks_of(rows, Shape::kRows),
                 .threads = Shape::kThreads,
                 .stream = stream,
                 .columns = static_cast<unsigned>(blocks_of(columns, Shape::kColumns))},
                &gradient_kernel<Shape, kShard, kDepthOfTree>, x.data, dy.data, dw.data, size);
}

template <class Shape>
cudaError_t launch_gradient(cudaStream_t stream, ConstMatrix x, ConstMatrix dy, int shard_rows, Matrix dw) {
  const bool few = x.rows / shard_rows < (1 << kLevels) - 1;
  if (few && shard_rows == 4) return launch_gradient<Shape, 4, kLevels>(stream, x, dy, 4, dw);
  if (few && shard_rows == 8) return launch_gradient<Shape, 8, kLevels>(stream, x, dy, 8, dw);
  if (few && shard_rows == 16) return launch_gradient<Shape, 16, kLevels>(stream, x, dy, 16, dw);
  if (few && shard_rows == 32) return launch_gradient<Shape, 32, kLevels>(stream, x, dy, 32, dw);
  if (few) return launch_gradient<Shape, 0, kLevels>(stream, x, dy, shard_rows, dw);
  return launch_gradient<Shape, 0, kAllLevels>(stream, x, dy, shard_rows, dw);
}

/// One thread an element of dw with its padding.
__global__ void clear_padding_kernel(float* dw, int rows, int columns, int stride) {
  const auto i = global_thread();
  const auto row = i / static_cast<std::size_t>(stride), column = i % static_cast<std::size_t>(stride);
  if (row >= static_cast<std::size_t>(padded(rows))) return;
  if (row >= static_cast<std::size_t>(rows) || column >= static_cast<std::size_t>(columns)) dw[i] = 0;
}

}  // namespace

cudaError_t launch_linear_backward_weights(cudaStream_t stream, Tile tile, ConstMatrix x, ConstMatrix dy,
                                           int shard_rows, Matrix dw) {
  if (tile == Tile::kSmall) return launch_gradient<SmallGradient>(stream, x, dy, shard_rows, dw);
  return launch_gradient<MediumGradient>(stream, x, dy, shard_rows, dw);
}

cudaError_t launch_clear_padding(cudaStream_t stream, Matrix dw) {
  if (dw.rows % kPanel == 0 && dw.columns % kPanel == 0) return cudaSuccess;
  constexpr int kThreads = 256;
  const auto count = static_cast<std::size_t>(padded(dw.rows)) * static_cast<std::size_t>(dw.row_stride);
  return launch(
      {.name = "clear_padding", .blocks = blocks_of(count, kThreads), .threads = kThreads, .stream = stream},
      &clear_padding_kernel, dw.data, dw.rows, dw.columns, dw.row_stride);
}

}  // namespace mirrorscale::kernels::cuda

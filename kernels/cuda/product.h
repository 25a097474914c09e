#pragma once
#include "kernels/cuda/tile.h"
#include "kernels/exact/scalar.h"
#include "kernels/matrix.h"

/// c = finish(a · b) for matrices in rows, as a kernel: forward and input gradient.
namespace mirrorscale::kernels::cuda {

using SmallTile = TileShape<16, 32, 16, 1, 4>;
using MediumTile = TileShape<64, 64, 16, 4, 4>;
using LargeTile = TileShape<128, 128, 16, 8, 8>;

/// a: [rows, depth]  b: [depth, columns]  c: [rows, columns]; strides in floats.
struct ProductSize {
  int rows, depth, columns;
  int a_stride, b_stride, c_stride;
};

/// y = f(s + b)
template <Activation kFunction>
struct AddBiasAndActivate {
  __device__ static float4 extra(const float* bias, std::size_t, int, int column, int columns) {
    float4 b = make_float4(-0.0F, -0.0F, -0.0F, -0.0F);  // s + -0 is s
    if (bias == nullptr) return b;
    if (column < columns) b.x = bias[column];
    if (column + 1 < columns) b.y = bias[column + 1];
    if (column + 2 < columns) b.z = bias[column + 2];
    if (column + 3 < columns) b.w = bias[column + 3];
    return b;
  }
  __device__ static float value(float s, float b) { return exact::activated<kFunction>(s + b); }
};

/// dx = s f'(saved)
template <Activation kFunction>
struct TimesDerivative {
  __device__ static float4 extra(const float* saved, std::size_t row, int stride, int column, int) {
    if constexpr (kFunction == Activation::kLinear) return make_float4(0, 0, 0, 0);
    return load4(saved + row * static_cast<std::size_t>(stride) + column);
  }
  __device__ static float value(float s, float saved) { return exact::times_derivative<kFunction>(s, saved); }
};

template <class Shape, class Finish>
__global__ void __launch_bounds__(Shape::kThreads)
    product_kernel(const float* a, const float* b, const float* extra, int extra_stride, float* c,
                   ProductSize size) {
  __shared__ Slab<Shape> slabs[2];
  const int thread = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.x) * Shape::kRows,
            column = static_cast<int>(blockIdx.y) * Shape::kColumns;
  Carried<Shape::kRows, Shape::kDepth, Shape::kThreads> left;
  Carried<Shape::kDepth, Shape::kColumns, Shape::kThreads> right;
  const auto fetch = [&](int k) {
    left.fetch(a, size.a_stride, size.rows, size.depth, row, k, thread);
    right.fetch(b, size.b_stride, size.depth, size.columns, k, column, thread);
  };
  const auto put = [&](Slab<Shape>& slab) {
    left.put_transposed(slab.left, thread);
    right.put(slab.right, thread);
  };

  Outputs<Shape> sum;
  sum.clear();
  fetch(0);
  put(slabs[0]);
  __syncthreads();
  int now = 0;
  for (int k = 0; k < size.depth; k += Shape::kDepth, now ^= 1) {
    const bool more = k + Shape::kDepth < size.depth;
    if (more) fetch(k + Shape::kDepth);
    if (k + Shape::kDepth <= size.depth) {
      MIRRORSCALE_UNROLL for (int i = 0; i < Shape::kDepth; ++i) step(slabs[now], i, thread, sum);
    } else {  // only real steps: fma(0, 0, -0) would turn -0 into +0
      for (int i = 0; i < size.depth - k; ++i) step(slabs[now], i, thread, sum);
    }
    if (more) put(slabs[now ^ 1]);
    __syncthreads();
  }

  MIRRORSCALE_UNROLL for (int r = 0; r < Shape::kR; ++r) {
    const int at_row = row + Shape::row(thread, r);
    if (at_row >= size.rows) continue;
    const auto line = static_cast<std::size_t>(at_row);
    MIRRORSCALE_UNROLL for (int i = 0; i < Shape::kC; i += 4) {
      const int at = column + Shape::column(thread, i);
      if (at >= padded(size.columns)) continue;
      const float4 s = sum.four(r, i), e = Finish::extra(extra, line, extra_stride, at, size.columns);
      float4 out = make_float4(0, 0, 0, 0);  // padding too: it may not be NaN
      if (at < size.columns) out.x = Finish::value(s.x, e.x);
      if (at + 1 < size.columns) out.y = Finish::value(s.y, e.y);
      if (at + 2 < size.columns) out.z = Finish::value(s.z, e.z);
      if (at + 3 < size.columns) out.w = Finish::value(s.w, e.w);
      store4(out, c + line * static_cast<std::size_t>(size.c_stride) + at);
    }
  }
}

template <class Shape, class Finish>
cudaError_t launch_product(const char* name, cudaStream_t stream, ConstMatrix a, ConstMatrix b,
                           const float* extra, int extra_stride, Matrix c) {
  const ProductSize size{c.rows, a.columns, c.columns, a.row_stride, b.row_stride, c.row_stride};
  const auto rows = static_cast<std::size_t>(c.rows), columns = static_cast<std::size_t>(c.columns);
  return launch({.name = name,
                 .blocks = blocks_of(rows, Shape::kRows),
                 .threads = Shape::kThreads,
                 .stream = stream,
                 .columns = static_cast<unsigned>(blocks_of(columns, Shape::kColumns))},
                &product_kernel<Shape, Finish>, a.data, b.data, extra, extra_stride, c.data, size);
}

}  // namespace mirrorscale::kernels::cuda

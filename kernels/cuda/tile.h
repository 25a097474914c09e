#pragma once
#include "kernels/cuda/gpu.h"
#include "kernels/exact/number.h"

/// The register and shared memory tiles of the products. An output is one chain of fma in the order of k.
namespace mirrorscale::kernels::cuda {

/// A block of threads makes kRows x kColumns outputs, a thread kR x kC of them: groups of up to 4 neighbours,
/// the groups spread over the tile so that threads of a warp read neighbouring addresses of shared memory.
/// kDepth steps of k lie in shared memory at a time.
template <int kRows_, int kColumns_, int kDepth_, int kR_, int kC_>
struct TileShape {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kDepth = kDepth_, kR = kR_, kC = kC_;
  static constexpr int kThreadColumns = kColumns / kC, kThreads = kRows / kR * kThreadColumns;
  static constexpr int kGroup = kR < 4 ? kR : 4;  // rows side by side
  static_assert(kC % 4 == 0 && kR % kGroup == 0 && kDepth % 4 == 0);

  /// Row of the tile that is the thread's r-th, column that is the c-th of 4 neighbours.
  __device__ static int row(int thread, int r) {
    return r / kGroup * (kRows / (kR / kGroup)) + thread / kThreadColumns * kGroup + r % kGroup;
  }
  __device__ static int column(int thread, int c) {
    return c / 4 * (kColumns / (kC / 4)) + thread % kThreadColumns * 4;
  }
};

/// The outputs of one thread.
template <class Shape>
struct Outputs {
  float at[Shape::kR][Shape::kC];

  __device__ void clear() {
    MIRRORSCALE_UNROLL for (int r = 0; r < Shape::kR; ++r) {
      MIRRORSCALE_UNROLL for (int c = 0; c < Shape::kC; ++c) at[r][c] = 0;
    }
  }
  /// left + this
  __device__ void add_to(const Outputs& left) {
    MIRRORSCALE_UNROLL for (int r = 0; r < Shape::kR; ++r) {
      MIRRORSCALE_UNROLL for (int c = 0; c < Shape::kC; ++c) at[r][c] = left.at[r][c] + at[r][c];
    }
  }
  __device__ float4 four(int r, int c) const {
    return make_float4(at[r][c], at[r][c + 1], at[r][c + 2], at[r][c + 3]);
  }
};

/// kDepth steps of both factors: left(k, row), right(k, column). Four spare floats a line spread the
/// transposing stores over the banks.
template <class Shape>
struct alignas(16) Slab {
  float left[Shape::kDepth][Shape::kRows + 4];
  float right[Shape::kDepth][Shape::kColumns];
};

template <class Shape>
__device__ __forceinline__ void step(const Slab<Shape>& slab, int k, int thread, Outputs<Shape>& sum) {
  float left[Shape::kR], right[Shape::kC];
  MIRRORSCALE_UNROLL for (int r = 0; r < Shape::kR; r += Shape::kGroup) {
    const float* from = &slab.left[k][Shape::row(thread, r)];
    if constexpr (Shape::kGroup == 4) {
      const float4 four = load4(from);
      left[r] = four.x, left[r + 1] = four.y, left[r + 2] = four.z, left[r + 3] = four.w;
    } else {
      MIRRORSCALE_UNROLL for (int i = 0; i < Shape::kGroup; ++i) left[r + i] = from[i];
    }
  }
  MIRRORSCALE_UNROLL for (int c = 0; c < Shape::kC; c += 4) {
    const float4 four = load4(&slab.right[k][Shape::column(thread, c)]);
    right[c] = four.x, right[c + 1] = four.y, right[c + 2] = four.z, right[c + 3] = four.w;
  }
  MIRRORSCALE_UNROLL for (int r = 0; r < Shape::kR; ++r) {
    MIRRORSCALE_UNROLL for (int c = 0; c < Shape::kC; ++c) {
      sum.at[r][c] = number::fma(left[r], right[c], sum.at[r][c]);
    }
  }
}

/// On their way from global to shared memory, in registers: kLines lines of kWidth floats of a matrix in
/// rows.
template <int kLines, int kWidth, int kThreads>
struct Carried {
  static constexpr int kFours = kLines * kWidth / 4, kCount = (kFours + kThreads - 1) / kThreads;
  float4 four[kCount];

  /// Lines from `line`, columns from `column`; what the matrix doesn't have is 0. Its lines are padded to
  /// whole fours.
  __device__ __forceinline__ void fetch(const float* data, int stride, int lines, int columns, int line,
                                        int column, int thread) {
    MIRRORSCALE_UNROLL for (int i = 0; i < kCount; ++i) {
      const int n = thread + i * kThreads, l = line + n / (kWidth / 4), c = column + n % (kWidth / 4) * 4;
      four[i] = make_float4(0, 0, 0, 0);
      if (n < kFours && l < lines && c < columns) {
        four[i] = load4(data + static_cast<std::size_t>(l) * static_cast<std::size_t>(stride) + c);
      }
    }
  }
  /// to[line][column]
  template <int kStride>
  __device__ __forceinline__ void put(float (*to)[kStride], int thread) const {
    MIRRORSCALE_UNROLL for (int i = 0; i < kCount; ++i) {
      const int n = thread + i * kThreads;
      if (n < kFours) store4(four[i], &to[n / (kWidth / 4)][n % (kWidth / 4) * 4]);
    }
  }
  /// to[column][line]
  template <int kStride>
  __device__ __forceinline__ void put_transposed(float (*to)[kStride], int thread) const {
    MIRRORSCALE_UNROLL for (int i = 0; i < kCount; ++i) {
      const int n = thread + i * kThreads, line = n / (kWidth / 4), column = n % (kWidth / 4) * 4;
      if (n >= kFours) continue;
      to[column][line] = four[i].x;
      to[column + 1][line] = four[i].y;
      to[column + 2][line] = four[i].z;
      to[column + 3][line] = four[i].w;
    }
  }
};

}  // namespace mirrorscale::kernels::cuda

#pragma once
#include "kernels/cuda/gpu.h"
#include "kernels/exact/scalar.h"
#include "kernels/matrix.h"

/// Rows of a matrix, 16 threads each: thread j of a row has the chain of columns j, j + 16, … (docs/exact.md,
/// section 3). Threads of rows that aren't there have no columns, but take part in exchanges.
namespace mirrorscale::kernels::cuda {

inline constexpr int kRowThreads = 128, kRowsOfBlock = kRowThreads / kPanel;

/// The part of a thread.
struct RowPart {
  int row, lane;
  bool there;
};
__device__ inline RowPart this_row(int rows) {
  const int thread = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.x) * kRowsOfBlock + thread / kPanel;
  return {row, thread % kPanel, row < rows};
}
__device__ inline std::size_t row_start(int row, int stride) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(stride);
}

/// a[j] + a[j + 8], then + 4, 2, 1; a + b is b + a, so that all 16 threads get the sum.
__device__ inline float sum_of_lanes(float chain) {
  MIRRORSCALE_UNROLL for (int half = kPanel / 2; half > 0; half /= 2) {
    chain = chain + __shfl_xor_sync(kWholeWarp, chain, half, kPanel);
  }
  return chain;
}
__device__ inline float maximum_of_lanes(float top) {
  MIRRORSCALE_UNROLL for (int half = kPanel / 2; half > 0; half /= 2) {
    const float other = __shfl_xor_sync(kWholeWarp, top, half, kPanel);
    top = top < other ? other : top;
  }
  return top;
}
__device__ inline int minimum_of_lanes(int value) {
  MIRRORSCALE_UNROLL for (int half = kPanel / 2; half > 0; half /= 2) {
    const int other = __shfl_xor_sync(kWholeWarp, value, half, kPanel);
    value = other < value ? other : value;
  }
  return value;
}
__device__ inline int count_of_lanes(int value) {
  MIRRORSCALE_UNROLL for (int half = kPanel / 2; half > 0; half /= 2) {
    value += __shfl_xor_sync(kWholeWarp, value, half, kPanel);
  }
  return value;
}

/// The columns of one thread. kHeld > 0: read once and kept in registers, for up to 16 kHeld columns; 0: read
/// each time.
template <int kHeld>
class RowValues {
 public:
  __device__ __forceinline__ RowValues(const float* row, int lane, int columns)
      : lane_(lane), columns_(columns) {
    MIRRORSCALE_UNROLL for (int i = 0; i < kHeld; ++i) {
      held_[i] = lane + i * kPanel < columns ? row[lane + i * kPanel] : 0.0F;
    }
  }
  /// body(column, value) for each, in order.
  template <class Body>
  __device__ __forceinline__ void each(const Body& body) const {
    MIRRORSCALE_UNROLL for (int i = 0; i < kHeld; ++i) {
      if (lane_ + i * kPanel < columns_) body(lane_ + i * kPanel, held_[i]);
    }
  }

 private:
  float held_[kHeld];
  int lane_, columns_;
};
template <>
class RowValues<0> {
 public:
  __device__ __forceinline__ RowValues(const float* row, int lane, int columns)
      : row_(row), lane_(lane), columns_(columns) {}
  template <class Body>
  __device__ __forceinline__ void each(const Body& body) const {
    for (int c = lane_; c < columns_; c += kPanel) body(c, row_[c]);
  }

 private:
  const float* row_;
  int lane_, columns_;
};

/// Calls body(std::integral_constant<int, kHeld>) with the kHeld for rows of so many columns.
template <class Body>
cudaError_t with_held(int columns, const Body& body) {
  if (columns <= kPanel) return body(std::integral_constant<int, 1>());
  if (columns <= 8 * kPanel) return body(std::integral_constant<int, 8>());
  return body(std::integral_constant<int, 0>());
}

/// The largest value of a row; NaN are passed over.
template <class Values>
__device__ __forceinline__ float row_maximum(const Values& z) {
  float top = number::from_bits(static_cast<int>(0xff800000U));  // -infinity
  z.each([&](int, float v) { top = top < v ? v : top; });
  return maximum_of_lanes(top);
}
/// Sum over the row of exp(z - top).
template <class Values>
__device__ __forceinline__ float exponential_sum(const Values& z, float top) {
  float chain = 0;
  z.each([&](int, float v) { chain = chain + exact::exp(v - top); });
  return sum_of_lanes(chain);
}

inline Launch row_launch(const char* name, cudaStream_t stream, int rows) {
  return {.name = name,
          .blocks = blocks_of(static_cast<std::size_t>(rows), kRowsOfBlock),
          .threads = kRowThreads,
          .stream = stream};
}

}  // namespace mirrorscale::kernels::cuda

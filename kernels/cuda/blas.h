#pragma once
#include "kernels/backend.h"
#include "kernels/cuda/memory.h"

#include <compare>
#include <cstddef>
#include <map>
#include <memory>

namespace mirrorscale::kernels::cuda {

/// Products by cuBLASLt, for Numerics::kFast: sums in float32, factors in the precision chosen. The same bits
/// from run to run: no algorithm that splits k and adds parts up.
class BlasProducts {
 public:
  /// Enqueues on `stream` of the current device.
  BlasProducts(cudaStream_t stream, Precision precision, std::shared_ptr<DeviceMemory> memory);

  /// c = left · right, and what `bias` and `relu` say about it: c = max(c + bias, 0). Matrices in rows.
  void multiply(ConstMatrix left, ConstMatrix right, const float* bias, bool relu, Matrix c);
  /// c = leftᵀ · right
  void multiply_transposed(ConstMatrix left, ConstMatrix right, Matrix c);

 private:
  using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
  using MatrixShape = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
  /// What cuBLASLt makes of one shape.
  struct Plan {
    Description product;
    MatrixShape a, b, c;
    cublasLtMatmulAlgo_t algorithm{};
  };
  /// In cuBLASLt's own view, columns first: c [m, n] = a [m, k] · b [k, n], b possibly transposed.
  struct Shape {
    int m, n, k;
    int a_stride, b_stride, c_stride;
    bool b_transposed;
    cublasLtEpilogue_t epilogue;
    auto operator<=>(const Shape&) const = default;
  };
  /// For rounded factors; grows.
  struct Room {
    Buffer data;
    std::size_t floats = 0;
  };
  Plan& plan_for(const Shape& shape);
  void run(const Shape& shape, ConstMatrix a, ConstMatrix b, const float* bias, Matrix c);
  /// The elements of m in the type of the factors, on the device: m's own, or rounded into `room`.
  const void* factor(ConstMatrix m, Room& room);

  cudaStream_t stream_;
  Precision precision_;
  std::shared_ptr<DeviceMemory> memory_;
  BlasLt blas_;
  Buffer workspace_;
  Room a_room_, b_room_;
  std::map<Shape, Plan> plans_;
};

}  // namespace mirrorscale::kernels::cuda

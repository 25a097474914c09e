#pragma once

#include "emulated_cuda/stream.h"
#include <cstddef>
#include <cstdint>
#include <library_types.h>

namespace mirrorscale::emulated_cuda {

/// A matrix of rows × columns as a library call describes it.
struct Matrix {
  void* data = nullptr;
  cudaDataType_t type = CUDA_R_32F;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;
  bool row_major = false;
  std::int64_t batch_stride = 0;  // elements

  std::size_t offset(std::uint64_t row, std::uint64_t column) const {
    const auto ld = static_cast<std::uint64_t>(leading);
    return row_major ? row * ld + column : column * ld + row;
  }
  bool well_formed() const { return leading >= static_cast<std::int64_t>(row_major ? columns : rows); }
};

/// What inputs are rounded to before they are multiplied.
enum class InputRounding { kNone, kTf32, kHalf, kBfloat16 };

/// What follows the product; names as cublasLtEpilogue_t.
struct Epilogue {
  bool adds_bias = false;
  bool relu = false, gelu = false;    // of the forward pass
  bool drelu = false, dgelu = false;  // of the backward pass, by `aux`
  bool writes_aux = false;
  bool bias_gradient_of_d = false, bias_gradient_of_a = false, bias_gradient_of_b = false;
  void* bias = nullptr;  // [rows of D], or [columns of D] with bias_gradient_of_b
  cudaDataType_t bias_type = CUDA_R_32F;
  void* aux = nullptr;  // ReLU: one bit an element, GELU: the values before it; column-major
  std::int64_t aux_leading = 0;
  cudaDataType_t aux_type = CUDA_R_32F;

  bool is_plain() const {
    return !adds_bias && !relu && !gelu && !drelu && !dgelu && !bias_gradient_of_d && !bias_gradient_of_a &&
           !bias_gradient_of_b;
  }
};

/// D = epilogue(alpha · op(A) · op(B) + beta · C), accumulated in fp32 in the order of k (fp64 for
/// CUDA_R_64F).
struct Gemm {
  Matrix a, b, c, d;
  bool transpose_a = false, transpose_b = false;
  std::uint64_t batch = 1;
  double alpha = 1, beta = 0;
  const void* alpha_on_device = nullptr;  // else the numbers above
  const void* beta_on_device = nullptr;
  bool scale_is_double = false;
  InputRounding rounding = InputRounding::kNone;
  Epilogue epilogue;
  void* workspace = nullptr;  // written, so that two streams that share it race
  std::size_t workspace_bytes = 0;

  std::uint64_t m() const { return d.rows; }
  std::uint64_t n() const { return d.columns; }
  std::uint64_t k() const { return transpose_a ? a.rows : a.columns; }
};

bool is_float_type(cudaDataType_t type);
std::size_t width_of(cudaDataType_t type);
double load(const void* from, cudaDataType_t type, std::size_t index);
void store(void* to, cudaDataType_t type, std::size_t index, double value);
/// Round to nearest, ties away, to the ten bits of mantissa that TF32 keeps.
float round_to_tf32(float value);

/// Do the shapes fit, and is every matrix well-formed?
bool shapes_fit(const Gemm& gemm);
/// The work, with every range checked first: cudaErrorIllegalAddress when one leaves its allocation.
Ref<Operation> make_gemm(const Gemm& gemm, const char* name);

/// The parts of run, for one batch entry. product: [n][m], column-major, before alpha and beta.
void multiply(const Gemm& gemm, std::size_t entry, float* product);
void finish_gemm(const Gemm& gemm, std::size_t entry, const float* product, double alpha, double beta);

}  // namespace mirrorscale::emulated_cuda

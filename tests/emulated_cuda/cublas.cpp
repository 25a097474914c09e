#include "emulated_cuda/capture.h"
#include "emulated_cuda/gemm.h"
#include <algorithm>
#include <cublas_v2.h>

using namespace mirrorscale::emulated_cuda;

struct cublasContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

namespace {

struct Compute {
  InputRounding rounding;
  bool is_double;
};

/// False for what the real library does not compute either, or the stand-in does not know.
bool compute_of(const cublasContext& handle, cublasComputeType_t type, cudaDataType input, Compute& compute) {
  const bool tf32 = handle.math == CUBLAS_TF32_TENSOR_OP_MATH && input == CUDA_R_32F;
  switch (type) {
    case CUBLAS_COMPUTE_32F:
      compute = {tf32 ? InputRounding::kTf32 : InputRounding::kNone, false};
      return input != CUDA_R_64F;
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      compute = {InputRounding::kNone, false};
      return input != CUDA_R_64F;
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      compute = {InputRounding::kTf32, false};
      return input == CUDA_R_32F;
    case CUBLAS_COMPUTE_32F_FAST_16F:
      compute = {InputRounding::kHalf, false};
      return input == CUDA_R_32F;
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      compute = {InputRounding::kBfloat16, false};
      return input == CUDA_R_32F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      compute = {InputRounding::kNone, true};
      return input == CUDA_R_64F;
    default:
      return false;
  }
}

Matrix column_major(const void* data, cudaDataType type, int rows, int columns, int leading,
                    long long stride) {
  Matrix matrix;
  matrix.data = const_cast<void*>(data);
  matrix.type = type;
  matrix.rows = static_cast<std::uint64_t>(rows);
  matrix.columns = static_cast<std::uint64_t>(columns);
  matrix.leading = leading;
  matrix.batch_stride = stride;
  return matrix;
}

void read_scales(const cublasContext& handle, const void* alpha, const void* beta, Gemm& gemm) {
  if (handle.pointers == CUBLAS_POINTER_MODE_DEVICE) {
    gemm.alpha_on_device = alpha;
    gemm.beta_on_device = beta;
    return;
  }
  const cudaDataType type = gemm.scale_is_double ? CUDA_R_64F : CUDA_R_32F;
  gemm.alpha = load(alpha, type, 0);
  gemm.beta = load(beta, type, 0);
}

cublasStatus_t submit_gemm(cublasHandle_t handle, const Gemm& gemm) {
  if (handle->device != current_device()) return CUBLAS_STATUS_INVALID_VALUE;
  if (gemm.m() == 0 || gemm.n() == 0 || gemm.batch == 0) return CUBLAS_STATUS_SUCCESS;
  const Stream stream = resolve(handle->stream, "a cuBLAS product");
  if (!stream || stream->device != handle->device) return CUBLAS_STATUS_EXECUTION_FAILED;
  return submit(stream, make_gemm(gemm, "a cuBLAS product")) ? CUBLAS_STATUS_EXECUTION_FAILED
                                                             : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t gemm_call(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                         int k, const void* alpha, const void* a, cudaDataType a_type, int lda,
                         long long a_stride, const void* b, cudaDataType b_type, int ldb, long long b_stride,
                         const void* beta, void* c, cudaDataType c_type, int ldc, long long c_stride,
                         int batch, cublasComputeType_t type) {
  const Unseen unseen;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || k < 0 || batch < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (!alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
  Compute compute{};
  if (!is_float_type(a_type) || a_type != b_type || !compute_of(*handle, type, a_type, compute))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (c_type != a_type && c_type != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  Gemm gemm;
  gemm.transpose_a = op_a != CUBLAS_OP_N;
  gemm.transpose_b = op_b != CUBLAS_OP_N;
  gemm.a = column_major(a, a_type, gemm.transpose_a ? k : m, gemm.transpose_a ? m : k, lda, a_stride);
  gemm.b = column_major(b, b_type, gemm.transpose_b ? n : k, gemm.transpose_b ? k : n, ldb, b_stride);
  gemm.c = gemm.d = column_major(c, c_type, m, n, ldc, c_stride);
  gemm.batch = static_cast<std::uint64_t>(batch);
  gemm.rounding = compute.rounding;
  gemm.scale_is_double = compute.is_double;
  gemm.workspace = handle->workspace;
  gemm.workspace_bytes = std::min<std::size_t>(handle->workspace_bytes, 1024);
  if (lda < 1 || ldb < 1 || ldc < 1 || !shapes_fit(gemm)) return CUBLAS_STATUS_INVALID_VALUE;
  read_scales(*handle, alpha, beta, gemm);
  return submit_gemm(handle, gemm);
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  const Unseen unseen;
  if (usable() || refuse_while_capturing()) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasContext;
  (*handle)->device = current_device();
  count_blas_handles(1);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  const Unseen unseen;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  count_blas_handles(~std::uint64_t{0});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType part, int* value) {
  if (!value || (part != MAJOR_VERSION && part != MINOR_VERSION && part != PATCH_LEVEL))
    return CUBLAS_STATUS_INVALID_VALUE;
  *value = part == MAJOR_VERSION   ? CUBLAS_VER_MAJOR
           : part == MINOR_VERSION ? CUBLAS_VER_MINOR
                                   : CUBLAS_VER_PATCH;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

/// Also takes the workspace back, as the real call does.
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  handle->workspace = nullptr;
  handle->workspace_bytes = 0;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0) return CUBLAS_STATUS_INVALID_VALUE;
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->math = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = handle->math;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  handle->pointers = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  handle->atomics = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                              int n, int k, const float* alpha, const float* a, int lda, const float* b,
                              int ldb, const float* beta, float* c, int ldc) {
  return gemm_call(handle, op_a, op_b, m, n, k, alpha, a, CUDA_R_32F, lda, 0, b, CUDA_R_32F, ldb, 0, beta, c,
                   CUDA_R_32F, ldc, 0, 1, CUBLAS_COMPUTE_32F);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k, const float* alpha,
                                         const float* a, int lda, long long a_stride, const float* b, int ldb,
                                         long long b_stride, const float* beta, float* c, int ldc,
                                         long long c_stride, int batch) {
  return gemm_call(handle, op_a, op_b, m, n, k, alpha, a, CUDA_R_32F, lda, a_stride, b, CUDA_R_32F, ldb,
                   b_stride, beta, c, CUDA_R_32F, ldc, c_stride, batch, CUBLAS_COMPUTE_32F);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                            int n, int k, const void* alpha, const void* a, cudaDataType a_type, int lda,
                            const void* b, cudaDataType b_type, int ldb, const void* beta, void* c,
                            cudaDataType c_type, int ldc, cublasComputeType_t type, cublasGemmAlgo_t) {
  return gemm_call(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb, 0, beta, c, c_type,
                   ldc, 0, 1, type);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                          const void* a, cudaDataType a_type, int lda, long long a_stride,
                                          const void* b, cudaDataType b_type, int ldb, long long b_stride,
                                          const void* beta, void* c, cudaDataType c_type, int ldc,
                                          long long c_stride, int batch, cublasComputeType_t type,
                                          cublasGemmAlgo_t) {
  return gemm_call(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, a_stride, b, b_type, ldb, b_stride,
                   beta, c, c_type, ldc, c_stride, batch, type);
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}

const char* cublasGetStatusString(cublasStatus_t status) {
  return cublasGetStatusName(status);
}

}  // extern "C"

#include "emulated_cuda/capture.h"
#include "emulated_cuda/cublaslt_descriptors.h"
#include "emulated_cuda/gemm.h"
#include <cublasLt.h>

using namespace mirrorscale::emulated_cuda;

struct cublasLtContext {
  int device = 0;
};

namespace {

constexpr std::size_t kWorkspaceBytes =
    1024;  // what the algorithm asks for when it may have a workspace at all

Matrix matrix_of(const void* data, cublasLtMatrixLayout_t layout) {
  const LayoutContent& content = content_of(layout);
  Matrix matrix;
  matrix.data = const_cast<void*>(data);
  matrix.type = content.type;
  matrix.rows = content.rows;
  matrix.columns = content.columns;
  matrix.leading = content.leading;
  matrix.row_major = content.order == CUBLASLT_ORDER_ROW;
  matrix.batch_stride = content.batch_stride;
  return matrix;
}

bool known_compute(std::int32_t compute, cudaDataType_t input, InputRounding& rounding) {
  rounding = InputRounding::kNone;
  switch (compute) {
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      return input != CUDA_R_64F;
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      rounding = InputRounding::kTf32;
      return input == CUDA_R_32F;
    case CUBLAS_COMPUTE_32F_FAST_16F:
      rounding = InputRounding::kHalf;
      return input == CUDA_R_32F;
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      rounding = InputRounding::kBfloat16;
      return input == CUDA_R_32F;
    case CUBLAS_COMPUTE_64F:
      return input == CUDA_R_64F;
    default:
      return false;
  }
}

/// False for an epilogue that does not exist or cannot be combined with what the product is.
bool read_epilogue(const ProductContent& product, const Gemm& gemm, Epilogue& e) {
  const auto type_or = [&](std::int32_t type) {
    return type < 0 ? gemm.d.type : static_cast<cudaDataType_t>(type);
  };
  e.bias = product.bias;
  e.bias_type = type_or(product.bias_type);
  e.aux = product.aux;
  e.aux_leading = product.aux_leading;
  e.aux_type = type_or(product.aux_type);
  switch (product.epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
      e = {};
      return true;
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_RELU_AUX:
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
      e.adds_bias = product.epilogue & CUBLASLT_EPILOGUE_BIAS;
      e.relu = product.epilogue & CUBLASLT_EPILOGUE_RELU;
      e.gelu = product.epilogue & CUBLASLT_EPILOGUE_GELU;
      e.writes_aux = product.epilogue & 128;
      break;
    case CUBLASLT_EPILOGUE_DRELU:
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
    case CUBLASLT_EPILOGUE_DGELU:
    case CUBLASLT_EPILOGUE_DGELU_BGRAD:
      e.drelu = product.epilogue & 8;
      e.dgelu = product.epilogue & 64;
      e.bias_gradient_of_d = product.epilogue & 16;
      break;
    case CUBLASLT_EPILOGUE_BGRADA:
      e.bias_gradient_of_a = true;
      break;
    case CUBLASLT_EPILOGUE_BGRADB:
      e.bias_gradient_of_b = true;
      break;
    default:
      return false;
  }
  // Epilogues are known for column-major matrices and single products; the rest is refused rather than
  // guessed.
  if (gemm.batch != 1 || gemm.a.row_major || gemm.b.row_major || gemm.c.row_major || gemm.d.row_major)
    return false;
  return gemm.d.type != CUDA_R_64F;
}

/// The bias and aux that an epilogue needs; checked when it runs, since a heuristic asks before they are
/// known.
bool has_its_pointers(const Epilogue& e, std::uint64_t rows) {
  const bool needs_bias = e.adds_bias || e.bias_gradient_of_d || e.bias_gradient_of_a || e.bias_gradient_of_b;
  const bool bits = e.relu || e.drelu;
  if (needs_bias && !e.bias) return false;
  if (!e.writes_aux && !e.drelu && !e.dgelu) return true;
  return e.aux && e.aux_leading >= static_cast<std::int64_t>(rows) && e.aux_leading % (bits ? 128 : 8) == 0;
}

cublasStatus_t read_product(cublasLtMatmulDesc_t desc, const void* a, cublasLtMatrixLayout_t a_layout,
                            const void* b, cublasLtMatrixLayout_t b_layout, const void* c,
                            cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                            Gemm& gemm) {
  if (!desc || !a_layout || !b_layout || !c_layout || !d_layout) return CUBLAS_STATUS_INVALID_VALUE;
  const ProductContent& product = content_of(desc);
  gemm.a = matrix_of(a, a_layout);
  gemm.b = matrix_of(b, b_layout);
  gemm.c = matrix_of(c, c_layout);
  gemm.d = matrix_of(d, d_layout);
  gemm.transpose_a = product.transpose_a != CUBLAS_OP_N;
  gemm.transpose_b = product.transpose_b != CUBLAS_OP_N;
  if (!shapes_fit(gemm)) return CUBLAS_STATUS_INVALID_VALUE;
  const std::int32_t batch = content_of(d_layout).batch_count;
  for (auto* layout : {a_layout, b_layout, c_layout})
    if (content_of(layout).batch_count != batch) return CUBLAS_STATUS_INVALID_VALUE;
  gemm.batch = static_cast<std::uint64_t>(batch);
  for (auto* layout : {a_layout, b_layout, c_layout, d_layout})
    if (content_of(layout).order != CUBLASLT_ORDER_COL && content_of(layout).order != CUBLASLT_ORDER_ROW)
      return CUBLAS_STATUS_NOT_SUPPORTED;
  const cudaDataType_t type = gemm.a.type;
  gemm.scale_is_double = type == CUDA_R_64F;
  if (!is_float_type(type) || gemm.b.type != type || gemm.c.type != gemm.d.type)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (gemm.d.type != type && gemm.d.type != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (product.scale != (gemm.scale_is_double ? CUDA_R_64F : CUDA_R_32F)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (product.pointer_mode != CUBLASLT_POINTER_MODE_HOST &&
      product.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!known_compute(product.compute, type, gemm.rounding) || !read_epilogue(product, gemm, gemm.epilogue))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  const Unseen unseen;
  if (usable()) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasLtContext{current_device()};
  count_blas_handles(1);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  const Unseen unseen;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  count_blas_handles(~std::uint64_t{0});
  return CUBLAS_STATUS_SUCCESS;
}

std::size_t cublasLtGetVersion() {
  return CUBLAS_VERSION;
}
std::size_t cublasLtGetCudartVersion() {
  return CUDART_VERSION;
}
const char* cublasLtGetStatusName(cublasStatus_t status) {
  return cublasGetStatusName(status);
}
const char* cublasLtGetStatusString(cublasStatus_t status) {
  return cublasGetStatusName(status);
}

/// One algorithm, marked in its data by the workspace it wants.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  const Unseen unseen;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!found || !results || requested < 1 || !preference) return CUBLAS_STATUS_INVALID_VALUE;
  *found = 0;
  Gemm gemm;
  if (const auto status = read_product(desc, nullptr, a, nullptr, b, nullptr, c, nullptr, d, gemm))
    return status;
  results[0] = {};
  results[0].workspaceSize = content_of(preference).workspace_bytes >= kWorkspaceBytes ? kWorkspaceBytes : 0;
  results[0].algo.data[0] = 0x656d756c61746564;
  results[0].algo.data[1] = results[0].workspaceSize;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  results[0].wavesCount = 1;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algo, void* workspace, std::size_t workspace_bytes,
                              cudaStream_t handle_of_stream) {
  const Unseen unseen;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
  Gemm gemm;
  if (const auto status = read_product(desc, a, a_layout, b, b_layout, c, c_layout, d, d_layout, gemm))
    return status;
  if (!has_its_pointers(gemm.epilogue, gemm.m())) return CUBLAS_STATUS_INVALID_VALUE;
  if (handle->device != current_device()) return CUBLAS_STATUS_INVALID_VALUE;
  if (content_of(desc).pointer_mode == CUBLASLT_POINTER_MODE_DEVICE) {
    gemm.alpha_on_device = alpha;
    gemm.beta_on_device = beta;
  } else {
    gemm.alpha = load(alpha, gemm.scale_is_double ? CUDA_R_64F : CUDA_R_32F, 0);
    gemm.beta = load(beta, gemm.scale_is_double ? CUDA_R_64F : CUDA_R_32F, 0);
  }
  // In place means C and D alike; anything between is undefined.
  if (c == d && (gemm.c.leading != gemm.d.leading || gemm.c.row_major != gemm.d.row_major))
    return CUBLAS_STATUS_INVALID_VALUE;
  gemm.workspace_bytes = algo ? static_cast<std::size_t>(algo->data[1]) : 0;
  gemm.workspace = gemm.workspace_bytes ? workspace : nullptr;
  if (gemm.workspace_bytes > workspace_bytes || (gemm.workspace_bytes && !workspace))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (gemm.m() == 0 || gemm.n() == 0 || gemm.batch == 0) return CUBLAS_STATUS_SUCCESS;
  const Stream stream = resolve(handle_of_stream, "cublasLtMatmul");
  if (!stream || stream->device != handle->device) return CUBLAS_STATUS_EXECUTION_FAILED;
  return submit(stream, make_gemm(gemm, "cublasLtMatmul")) ? CUBLAS_STATUS_EXECUTION_FAILED
                                                           : CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"

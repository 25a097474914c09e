#include "emulated_cuda/cublaslt_descriptors.h"

#include "emulated_cuda/sanitizers.h"
#include <cstring>

using namespace mirrorscale::emulated_cuda;

namespace {

template <class T>
cublasStatus_t take(T& into, const void* buffer, std::size_t bytes) {
  if (!buffer || bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&into, buffer, sizeof(T));
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t give(const T& from, void* buffer, std::size_t bytes, std::size_t* written) {
  if (written) *written = sizeof(T);
  if (bytes == 0) return CUBLAS_STATUS_SUCCESS;
  if (!buffer || bytes < sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(buffer, &from, sizeof(T));
  return CUBLAS_STATUS_SUCCESS;
}

/// Calls with the field that an attribute names; NOT_SUPPORTED for one that has none here.
template <class Visit>
cublasStatus_t visit(LayoutContent& layout, cublasLtMatrixLayoutAttribute_t attribute, Visit with) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return with(layout.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return with(layout.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return with(layout.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return with(layout.columns);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return with(layout.leading);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return with(layout.batch_count);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return with(layout.batch_stride);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

template <class Visit>
cublasStatus_t visit(ProductContent& product, cublasLtMatmulDescAttributes_t attribute, Visit with) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return with(product.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return with(product.scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return with(product.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return with(product.transpose_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return with(product.transpose_b);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return with(product.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return with(product.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return with(product.bias_type);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return with(product.aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return with(product.aux_leading);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
      return with(product.aux_type);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, std::size_t bytes,
                                                 cudaDataType type, std::uint64_t rows, std::uint64_t columns,
                                                 std::int64_t leading) {
  if (!layout || bytes < sizeof(cublasLtMatrixLayoutOpaque_t)) return CUBLAS_STATUS_INVALID_VALUE;
  content_of(layout) = {type, CUBLASLT_ORDER_COL, rows, columns, leading, 0, 1};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  const Unseen unseen;
  *layout = new cublasLtMatrixLayoutOpaque_t{};
  return cublasLtMatrixLayoutInit_internal(*layout, sizeof(**layout), type, rows, columns, leading);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  const Unseen unseen;
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* buffer,
                                                std::size_t bytes) {
  if (!layout) return CUBLAS_STATUS_INVALID_VALUE;
  return visit(content_of(layout), attribute, [&](auto& field) { return take(field, buffer, bytes); });
}

cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, void* buffer,
                                                std::size_t bytes, std::size_t* written) {
  if (!layout) return CUBLAS_STATUS_INVALID_VALUE;
  return visit(content_of(layout), attribute,
               [&](auto& field) { return give(field, buffer, bytes, written); });
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t product, std::size_t bytes,
                                               cublasComputeType_t compute, cudaDataType_t scale) {
  if (!product || bytes < sizeof(cublasLtMatmulDescOpaque_t)) return CUBLAS_STATUS_INVALID_VALUE;
  content_of(product) = {compute,     scale,       CUBLASLT_POINTER_MODE_HOST,
                         CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT,
                         nullptr,     nullptr,     0,
                         -1,          -1};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  const Unseen unseen;
  *product = new cublasLtMatmulDescOpaque_t{};
  return cublasLtMatmulDescInit_internal(*product, sizeof(**product), compute, scale);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  const Unseen unseen;
  delete product;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t attribute, const void* buffer,
                                              std::size_t bytes) {
  if (!product) return CUBLAS_STATUS_INVALID_VALUE;
  return visit(content_of(product), attribute, [&](auto& field) { return take(field, buffer, bytes); });
}

cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t attribute, void* buffer,
                                              std::size_t bytes, std::size_t* written) {
  if (!product) return CUBLAS_STATUS_INVALID_VALUE;
  return visit(content_of(product), attribute,
               [&](auto& field) { return give(field, buffer, bytes, written); });
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
                                                     std::size_t bytes) {
  if (!preference || bytes < sizeof(cublasLtMatmulPreferenceOpaque_t)) return CUBLAS_STATUS_INVALID_VALUE;
  content_of(preference) = {};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  const Unseen unseen;
  *preference = new cublasLtMatmulPreferenceOpaque_t{};
  return cublasLtMatmulPreferenceInit_internal(*preference, sizeof(**preference));
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  const Unseen unseen;
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}

/// The workspace counts; the rest narrows a choice that there is not.
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* buffer, std::size_t bytes) {
  if (!preference || !buffer) return CUBLAS_STATUS_INVALID_VALUE;
  if (attribute != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return CUBLAS_STATUS_SUCCESS;
  return take(content_of(preference).workspace_bytes, buffer, bytes);
}

}  // extern "C"

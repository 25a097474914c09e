#pragma once

#include <cstdint>
#include <cublasLt.h>

namespace mirrorscale::emulated_cuda {

/// What the semi-opaque descriptors of cublasLt hold here.
struct LayoutContent {
  cudaDataType_t type;
  std::int32_t order;
  std::uint64_t rows, columns;
  std::int64_t leading;
  std::int64_t batch_stride;
  std::int32_t batch_count;
};
static_assert(sizeof(LayoutContent) <= sizeof(cublasLtMatrixLayoutOpaque_t));

struct ProductContent {
  std::int32_t compute, scale, pointer_mode, transpose_a, transpose_b;
  std::uint32_t epilogue;
  void* bias;
  void* aux;
  std::int64_t aux_leading;
  std::int32_t bias_type, aux_type;  // -1: that of D
};
static_assert(sizeof(ProductContent) <= sizeof(cublasLtMatmulDescOpaque_t));

struct PreferenceContent {
  std::uint64_t workspace_bytes;
};
static_assert(sizeof(PreferenceContent) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

inline LayoutContent& content_of(cublasLtMatrixLayout_t layout) {
  return *reinterpret_cast<LayoutContent*>(layout);
}
inline ProductContent& content_of(cublasLtMatmulDesc_t product) {
  return *reinterpret_cast<ProductContent*>(product);
}
inline PreferenceContent& content_of(cublasLtMatmulPreference_t preference) {
  return *reinterpret_cast<PreferenceContent*>(preference);
}

}  // namespace mirrorscale::emulated_cuda

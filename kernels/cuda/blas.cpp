#include "kernels/cuda/blas.h"

#include "kernels/cuda/launch.h"
#include "kernels/cuda_backend.h"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace mirrorscale::kernels::cuda {
namespace {

constexpr std::size_t kWorkspaceFloats = kCudaWorkspaceBytes / sizeof(float);
constexpr std::uint32_t kAlignment = 16;  // bytes; rows start at multiples of 64

cudaDataType_t factor_type(Precision precision) {
  switch (precision) {
    case Precision::kBfloat16:
      return CUDA_R_16BF;
    case Precision::kFloat16:
      return CUDA_R_16F;
    case Precision::kFloat32:
    case Precision::kTensorFloat32:
      break;
  }
  return CUDA_R_32F;
}

using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using MatrixShape = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

template <class Value>
void set(const Description& description, cublasLtMatmulDescAttributes_t attribute, Value value) {
  check(cublasLtMatmulDescSetAttribute(description.get(), attribute, &value, sizeof value),
        "describe a product");
}
Description make_description(Precision precision, bool b_transposed, cublasLtEpilogue_t epilogue) {
  cublasLtMatmulDesc_t raw{};
  const bool tensor = precision == Precision::kTensorFloat32;
  check(
      cublasLtMatmulDescCreate(&raw, tensor ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
      "describe a product");
  Description description(raw);
  set(description, CUBLASLT_MATMUL_DESC_TRANSB,
      static_cast<std::int32_t>(b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N));
  set(description, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  return description;
}
MatrixShape make_layout(cudaDataType_t type, int rows, int columns, int stride) {
  cublasLtMatrixLayout_t raw{};
  check(cublasLtMatrixLayoutCreate(&raw, type, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), stride),
        "describe a matrix");
  return MatrixShape(raw);
}

template <class Value>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute, Value value) {
  check(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
        "say what a product may use");
}
Preference make_preference() {
  cublasLtMatmulPreference_t raw{};
  check(cublasLtMatmulPreferenceCreate(&raw), "say what a product may use");
  Preference preference(raw);
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
      static_cast<std::uint64_t>(kWorkspaceFloats * sizeof(float)));
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_NONE));
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    set(preference, attribute, kAlignment);
  }
  return preference;
}

BlasLt make_blas() {
  cublasLtHandle_t handle{};
  check(cublasLtCreate(&handle), "start cuBLASLt");
  return BlasLt(handle);
}

}  // namespace

BlasProducts::BlasProducts(cudaStream_t stream, Precision precision, std::shared_ptr<DeviceMemory> memory)
    : stream_(stream),
      precision_(precision),
      memory_(std::move(memory)),
      blas_(make_blas()),
      workspace_(memory_->allocate(kWorkspaceFloats)) {}

void BlasProducts::multiply(ConstMatrix left, ConstMatrix right, const float* bias, bool relu, Matrix c) {
  const auto epilogue = bias != nullptr ? (relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
                                        : (relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT);
  // A matrix in rows is its transposed in columns: cᵀ = rightᵀ · leftᵀ needs no transposition.
  run({c.columns, c.rows, left.columns, right.row_stride, left.row_stride, c.row_stride, false, epilogue},
      right, left, bias, c);
}

void BlasProducts::multiply_transposed(ConstMatrix left, ConstMatrix right, Matrix c) {
  run({c.columns, c.rows, left.rows, right.row_stride, left.row_stride, c.row_stride, true,
       CUBLASLT_EPILOGUE_DEFAULT},
      right, left, nullptr, c);
}

const void* BlasProducts::factor(ConstMatrix m, Room& room) {
  if (factor_type(precision_) == CUDA_R_32F) return m.data;
  const std::size_t count = static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.row_stride);
  std::size_t& has = room.floats;
  if (const std::size_t wants = (count + 1) / 2; wants > has) {
    check(cudaStreamSynchronize(stream_), "wait for the device");  // it may still read what goes
    room.data.reset();
    has = 0;
    room.data = memory_->allocate(wants);
    has = wants;
  }
  check(precision_ == Precision::kBfloat16 ? launch_to_bfloat16(stream_, count, m.data, room.data.get())
                                           : launch_to_float16(stream_, count, m.data, room.data.get()),
        "round the factors of a product");
  return room.data.get();
}

BlasProducts::Plan& BlasProducts::plan_for(const Shape& shape) {
  if (const auto known = plans_.find(shape); known != plans_.end()) return known->second;
  const cudaDataType_t type = factor_type(precision_);
  Plan plan;
  plan.product = make_description(precision_, shape.b_transposed, shape.epilogue);
  plan.a = make_layout(type, shape.m, shape.k, shape.a_stride);
  plan.b = make_layout(type, shape.b_transposed ? shape.n : shape.k, shape.b_transposed ? shape.k : shape.n,
                       shape.b_stride);
  plan.c = make_layout(CUDA_R_32F, shape.m, shape.n, shape.c_stride);
  const Preference preference = make_preference();
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  check(cublasLtMatmulAlgoGetHeuristic(blas_.get(), plan.product.get(), plan.a.get(), plan.b.get(),
                                       plan.c.get(), plan.c.get(), preference.get(), 1, &found, &count),
        "find an algorithm for a product");
  if (count == 0) {
    throw std::runtime_error("[cuda] cuBLASLt has no algorithm for a product of " + std::to_string(shape.n) +
                             " x " + std::to_string(shape.k) + " by " + std::to_string(shape.m));
  }
  plan.algorithm = found.algo;
  return plans_.emplace(shape, std::move(plan)).first->second;
}

void BlasProducts::run(const Shape& shape, ConstMatrix a, ConstMatrix b, const float* bias, Matrix c) {
  if (shape.m == 0 || shape.n == 0) return;
  Plan& plan = plan_for(shape);
  if (bias != nullptr) {
    check(cublasLtMatmulDescSetAttribute(plan.product.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                         sizeof bias),
          "name the bias of a product");
  }
  const void *a_data = factor(a, a_room_), *b_data = factor(b, b_room_);
  const float one = 1, zero = 0;
  check(cublasLtMatmul(blas_.get(), plan.product.get(), &one, a_data, plan.a.get(), b_data, plan.b.get(),
                       &zero, c.data, plan.c.get(), c.data, plan.c.get(), &plan.algorithm, workspace_.get(),
                       kWorkspaceFloats * sizeof(float), stream_),
        "multiply matrices");
}

}  // namespace mirrorscale::kernels::cuda

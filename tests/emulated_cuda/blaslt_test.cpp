#include "emulated_cuda/test_support.h"
#include <cmath>
#include <cublasLt.h>

namespace mirrorscale::conformance {
namespace {

/// y^T [out, batch] = w [in, out]^T-free product in the column-major sense, with everything that hangs on it.
class BlasLt : public testing::Test {
 protected:
  static constexpr int kM = 4, kN = 3, kK = 2;  // D [m, n] = A [m, k] · B [k, n]
  void SetUp() override {
    MIRRORSCALE_NEEDS_DEVICES(1);
    ASSERT_EQ(cublasLtCreate(&handle_), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatrixLayoutCreate(&a_, CUDA_R_32F, kM, kK, kM), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatrixLayoutCreate(&b_, CUDA_R_32F, kK, kN, kK), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatrixLayoutCreate(&d_, CUDA_R_32F, kM, kN, kM), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatmulPreferenceCreate(&preference_), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    if (!handle_) return;
    cublasLtMatmulPreferenceDestroy(preference_);
    cublasLtMatrixLayoutDestroy(a_);
    cublasLtMatrixLayoutDestroy(b_);
    cublasLtMatrixLayoutDestroy(d_);
    cublasLtMatmulDescDestroy(product_);
    cublasLtDestroy(handle_);
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    ASSERT_EQ(cublasLtMatmulDescSetAttribute(product_, attribute, &value, sizeof value),
              CUBLAS_STATUS_SUCCESS);
  }
  cublasStatus_t find(cublasLtMatmulHeuristicResult_t& result) {
    int found = 0;
    const auto status =
        cublasLtMatmulAlgoGetHeuristic(handle_, product_, a_, b_, d_, d_, preference_, 1, &result, &found);
    return status == CUBLAS_STATUS_SUCCESS && found == 0 ? CUBLAS_STATUS_NOT_SUPPORTED : status;
  }
  std::vector<float> run(cudaStream_t stream, const std::vector<float>& a, const std::vector<float>& b) {
    TestBuffer<float> da(a, stream), db(b, stream), dd(kM * kN);
    cublasLtMatmulHeuristicResult_t chosen{};
    EXPECT_EQ(find(chosen), CUBLAS_STATUS_SUCCESS);
    const float one = 1, zero = 0;
    EXPECT_EQ(cublasLtMatmul(handle_, product_, &one, da.get(), a_, db.get(), b_, &zero, dd.get(), d_,
                             dd.get(), d_, &chosen.algo, nullptr, 0, stream),
              CUBLAS_STATUS_SUCCESS);
    return dd.read(stream);
  }
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, d_ = nullptr;
  cublasLtMatmulPreference_t preference_ = nullptr;
  // A = [1 5; -2 6; 3 -7; -4 8] and B = [1 0 2; 0 1 -1], column-major.
  const std::vector<float> values_a_{1, -2, 3, -4, 5, 6, -7, 8}, values_b_{1, 0, 0, 1, 2, -1};
  const std::vector<float> product_ab_{1, -2, 3, -4, 5, 6, -7, 8, -3, -10, 13, -16};
};

TEST_F(BlasLt, Multiplies) {
  TestStream stream;
  EXPECT_EQ(run(stream, values_a_, values_b_), product_ab_);
}

TEST_F(BlasLt, AddsTheBiasToEachRow) {
  TestStream stream;
  TestBuffer<float> bias({10, 20, 30, 40}, stream);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.get());
  const auto d = run(stream, values_a_, values_b_);
  for (std::size_t i = 0; i < d.size(); ++i)
    EXPECT_EQ(d[i], product_ab_[i] + 10.0f * static_cast<float>(i % 4 + 1));
}

TEST_F(BlasLt, ReluForwardAndBackwardThroughTheMask) {
  TestStream stream;
  TestBuffer<unsigned char> mask(3 * 16);
  ASSERT_EQ(cudaMemsetAsync(mask.get(), 0, mask.size(), stream), cudaSuccess);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_AUX);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, mask.get());
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{128});
  const auto forward = run(stream, values_a_, values_b_);
  for (std::size_t i = 0; i < forward.size(); ++i) EXPECT_EQ(forward[i], std::fmax(product_ab_[i], 0.0f));
  TestBuffer<float> gradient(4);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DRELU_BGRAD);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, gradient.get());
  const auto backward = run(stream, values_a_, values_b_);
  std::vector<float> sums(4);
  for (std::size_t i = 0; i < backward.size(); ++i) {
    EXPECT_EQ(backward[i], product_ab_[i] > 0 ? product_ab_[i] : 0.0f);
    sums[i % 4] += backward[i];
  }
  EXPECT_EQ(gradient.read(stream), sums);
}

TEST_F(BlasLt, GeluIsTheTanhForm) {
  TestStream stream;
  TestBuffer<float> bias({0, 0, 0, 0}, stream);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_BIAS);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.get());
  const auto d = run(stream, values_a_, values_b_);
  EXPECT_NEAR(d[0], 0.841192f, 1e-4);
  EXPECT_NEAR(d[1], -0.045402f, 1e-4);
}

TEST_F(BlasLt, BiasGradientOfB) {
  TestStream stream;
  TestBuffer<float> gradient(3);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BGRADB);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, gradient.get());
  cublasLtMatmulHeuristicResult_t chosen{};
  if (find(chosen) != CUBLAS_STATUS_SUCCESS) GTEST_SKIP() << "this device has no fp32 BGRADB";
  EXPECT_EQ(run(stream, values_a_, values_b_), product_ab_);
  EXPECT_EQ(gradient.read(stream), (std::vector<float>{1, 1, 1}));
}

TEST_F(BlasLt, RowMajorMatrices) {
  TestStream stream;
  const auto row = CUBLASLT_ORDER_ROW;
  const std::int64_t widths[] = {kK, kN, kN};
  cublasLtMatrixLayout_t layouts[] = {a_, b_, d_};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_ORDER, &row, sizeof row),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(
        cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_LD, &widths[i], sizeof widths[i]),
        CUBLAS_STATUS_SUCCESS);
  }
  // A = [1 2; 3 4; 5 6; 7 8], B = [1 0 2; 0 1 1]
  EXPECT_EQ(run(stream, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 0, 2, 0, 1, 1}),
            (std::vector<float>{1, 2, 4, 3, 4, 10, 5, 6, 16, 7, 8, 22}));
}

TEST_F(BlasLt, DescriptorsCanLiveOnTheStack) {
  cublasLtMatrixLayoutOpaque_t layout{};
  ASSERT_EQ(cublasLtMatrixLayoutInit(&layout, CUDA_R_32F, 5, 6, 7), CUBLAS_STATUS_SUCCESS);
  std::uint64_t rows = 0;
  std::size_t written = 0;
  EXPECT_EQ(
      cublasLtMatrixLayoutGetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof rows, &written),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(rows, 5u);
}

}  // namespace
}  // namespace mirrorscale::conformance

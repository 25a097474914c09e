#include "emulated_cuda/test_support.h"
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <memory>

namespace mirrorscale::conformance {
namespace {

/// Small whole numbers: every order of summation is exact, in bf16 and TF32 as well.
std::vector<float> whole_numbers(std::size_t count, int seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(seed)) % 9) - 4;
  return values;
}

/// Column-major op(a) [m, k] · op(b) [k, n].
std::vector<float> product(const std::vector<float>& a, bool ta, int lda, const std::vector<float>& b,
                           bool tb, int ldb, int m, int n, int k) {
  std::vector<float> c(static_cast<std::size_t>(m * n));
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      for (int p = 0; p < k; ++p)
        c[static_cast<std::size_t>(j * m + i)] +=
            a[static_cast<std::size_t>(ta ? i * lda + p : p * lda + i)] *
            b[static_cast<std::size_t>(tb ? p * ldb + j : j * ldb + p)];
  return c;
}

class Blas : public testing::Test {
 protected:
  void SetUp() override {
    MIRRORSCALE_NEEDS_DEVICES(1);
    stream_ = std::make_unique<TestStream>();
    ASSERT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasSetStream(handle_, *stream_), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    if (handle_) cublasDestroy(handle_);
  }
  std::unique_ptr<TestStream> stream_;
  cublasHandle_t handle_ = nullptr;
  const float one_ = 1, zero_ = 0;
};

TEST_F(Blas, AllTransposes) {
  constexpr int kM = 21, kN = 6, kK = 13;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const int lda = (ta ? kK : kM) + 2, ldb = (tb ? kN : kK) + 1;
      const auto a = whole_numbers(static_cast<std::size_t>(lda * (ta ? kM : kK)), 1);
      const auto b = whole_numbers(static_cast<std::size_t>(ldb * (tb ? kK : kN)), 2);
      TestBuffer<float> da(a, *stream_), db(b, *stream_), dc(kM * kN);
      ASSERT_EQ(cublasSgemm(handle_, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, kM, kN,
                            kK, &one_, da.get(), lda, db.get(), ldb, &zero_, dc.get(), kM),
                CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(dc.read(*stream_), product(a, ta, lda, b, tb, ldb, kM, kN, kK)) << ta << tb;
    }
}

TEST_F(Blas, BetaAddsWhatWasThere) {
  const std::vector<float> a{2}, b{3}, c{10};
  TestBuffer<float> da(a, *stream_), db(b, *stream_), dc(c, *stream_);
  const float alpha = 2, beta = 0.5f;
  ASSERT_EQ(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, da.get(), 1, db.get(), 1, &beta,
                        dc.get(), 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(dc.read(*stream_)[0], 17.0f);
}

TEST_F(Blas, Bfloat16InFloatOut) {
  constexpr int kM = 5, kN = 4, kK = 40;
  const auto a = whole_numbers(kM * kK, 3), b = whole_numbers(kK * kN, 4);
  std::vector<__nv_bfloat16> half_a(a.begin(), a.end()), half_b(b.begin(), b.end());
  TestBuffer<__nv_bfloat16> da(half_a, *stream_), db(half_b, *stream_);
  TestBuffer<float> dc(kM * kN);
  ASSERT_EQ(cublasGemmEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one_, da.get(), CUDA_R_16BF, kM,
                         db.get(), CUDA_R_16BF, kK, &zero_, dc.get(), CUDA_R_32F, kM, CUBLAS_COMPUTE_32F,
                         CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(dc.read(*stream_), product(a, false, kM, b, false, kK, kM, kN, kK));
}

TEST_F(Blas, BatchesAreStrided) {
  constexpr int kM = 3, kN = 2, kK = 4, kBatch = 3;
  const auto a = whole_numbers(kM * kK * kBatch, 5), b = whole_numbers(kK * kN, 6);
  TestBuffer<float> da(a, *stream_), db(b, *stream_), dc(kM * kN * kBatch);
  ASSERT_EQ(
      cublasGemmStridedBatchedEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one_, da.get(), CUDA_R_32F,
                                 kM, kM * kK, db.get(), CUDA_R_32F, kK, 0, &zero_, dc.get(), CUDA_R_32F, kM,
                                 kM * kN, kBatch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
      CUBLAS_STATUS_SUCCESS);
  const auto c = dc.read(*stream_);
  for (int batch = 0; batch < kBatch; ++batch) {
    const std::vector<float> part(a.begin() + batch * kM * kK, a.begin() + (batch + 1) * kM * kK);
    EXPECT_EQ(std::vector<float>(c.begin() + batch * kM * kN, c.begin() + (batch + 1) * kM * kN),
              product(part, false, kM, b, false, kK, kM, kN, kK));
  }
}

TEST_F(Blas, Tf32RoundsItsInputs) {
  const float fine = 1.0f + 0x1p-13f;  // lost in the ten bits of TF32
  TestBuffer<float> da({fine}, *stream_), db({1.0f}, *stream_), dc(1);
  ASSERT_EQ(cublasGemmEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one_, da.get(), CUDA_R_32F, 1, db.get(),
                         CUDA_R_32F, 1, &zero_, dc.get(), CUDA_R_32F, 1, CUBLAS_COMPUTE_32F_PEDANTIC,
                         CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(dc.read(*stream_)[0], fine);
}

TEST_F(Blas, ShapesThatDoNotFitAreRefused) {
  TestBuffer<float> x(16);
  EXPECT_EQ(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one_, x.get(), 3, x.get(), 4, &zero_,
                        x.get(), 4),
            CUBLAS_STATUS_INVALID_VALUE);
}

}  // namespace
}  // namespace mirrorscale::conformance

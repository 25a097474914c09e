#include "emulated_cuda/gemm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <memory>
#include <vector>

namespace mirrorscale::emulated_cuda {
namespace {

constexpr std::size_t kTile = 4;  // columns of the result computed together, so that A is read once for all

float rounded(float value, InputRounding rounding) {
  switch (rounding) {
    case InputRounding::kNone:
      return value;
    case InputRounding::kTf32:
      return round_to_tf32(value);
    case InputRounding::kHalf:
      return __half2float(__float2half_rn(value));
    case InputRounding::kBfloat16:
      return __bfloat162float(__float2bfloat16_rn(value));
  }
  return value;
}

/// op(matrix) as fp32 with op's element (row, column) at [column][row] or, with by_row, at [row][column].
void pack(const Matrix& matrix, bool transpose, std::size_t entry, InputRounding rounding, bool by_row,
          std::vector<float>& packed) {
  const std::size_t rows = transpose ? matrix.columns : matrix.rows,
                    columns = transpose ? matrix.rows : matrix.columns;
  packed.resize(rows * columns);
  const std::size_t base = entry * static_cast<std::size_t>(matrix.batch_stride);
  const std::size_t row_step = matrix.offset(transpose ? 0 : 1, transpose ? 1 : 0);
  const std::size_t column_step = matrix.offset(transpose ? 1 : 0, transpose ? 0 : 1);
  const auto element = [&](std::size_t i, std::size_t j) {
    const std::size_t at = base + i * row_step + j * column_step;
    const float value = matrix.type == CUDA_R_32F ? static_cast<const float*>(matrix.data)[at]
                                                  : static_cast<float>(load(matrix.data, matrix.type, at));
    return rounding == InputRounding::kNone ? value : rounded(value, rounding);
  };
  if (by_row)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) packed[i * columns + j] = element(i, j);
  else
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t i = 0; i < rows; ++i) packed[j * rows + i] = element(i, j);
}

/// product[j][i] = Σ_p a[p][i] · b[p][j] for columns j … j + count - 1, in the order of p; vectorises over i.
template <std::size_t Count>
[[gnu::always_inline]] inline void columns_of(const float* a, const float* b, std::size_t m, std::size_t n,
                                              std::size_t k, std::size_t j, float* product) {
  constexpr std::size_t kWide = 16;
  std::size_t i = 0;
  for (; i + kWide <= m; i += kWide) {
    float sums[Count][kWide] = {};
    for (std::size_t p = 0; p < k; ++p)
      for (std::size_t c = 0; c < Count; ++c) {
        const float factor = b[p * n + j + c];
        for (std::size_t w = 0; w < kWide; ++w) sums[c][w] += factor * a[p * m + i + w];
      }
    for (std::size_t c = 0; c < Count; ++c) std::copy_n(sums[c], kWide, product + (j + c) * m + i);
  }
  for (; i < m; ++i) {
    float sums[Count] = {};
    for (std::size_t p = 0; p < k; ++p)
      for (std::size_t c = 0; c < Count; ++c) sums[c] += b[p * n + j + c] * a[p * m + i];
    for (std::size_t c = 0; c < Count; ++c) product[(j + c) * m + i] = sums[c];
  }
}

[[gnu::always_inline]] inline void product_of(const float* a, const float* b, std::size_t m, std::size_t n,
                                              std::size_t k, float* product) {
  std::size_t j = 0;
  for (; j + kTile <= n; j += kTile) columns_of<kTile>(a, b, m, n, k, j, product);
  for (; j < n; ++j) columns_of<1>(a, b, m, n, k, j, product);
}

void product_plain(const float* a, const float* b, std::size_t m, std::size_t n, std::size_t k,
                   float* product) {
  product_of(a, b, m, n, k, product);
}

#if defined(__x86_64__)
// Without fma: the same bits as the plain one.
[[gnu::target("avx2")]] void product_avx2(const float* a, const float* b, std::size_t m, std::size_t n,
                                          std::size_t k, float* product) {
  product_of(a, b, m, n, k, product);
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2");
}
#else
constexpr auto product_avx2 = product_plain;
bool has_avx2() {
  return false;
}
#endif

std::size_t extent(const Matrix& matrix, std::uint64_t batch) {
  if (matrix.rows == 0 || matrix.columns == 0 || batch == 0) return 0;
  return ((batch - 1) * static_cast<std::size_t>(matrix.batch_stride) +
          matrix.offset(matrix.rows - 1, matrix.columns - 1) + 1) *
         width_of(matrix.type);
}

struct Range {
  const char* name;
  void* data;
  std::size_t bytes;
  bool written;
};

std::vector<Range> ranges_of(const Gemm& g) {
  std::vector<Range> ranges{{"A", g.a.data, extent(g.a, g.batch), false},
                            {"B", g.b.data, extent(g.b, g.batch), false},
                            {"D", g.d.data, extent(g.d, g.batch), true},
                            {"workspace", g.workspace, g.workspace_bytes, true}};
  if (g.beta != 0 || g.beta_on_device) ranges.push_back({"C", g.c.data, extent(g.c, g.batch), false});
  const std::size_t scale = g.scale_is_double ? 8 : 4;
  if (g.alpha_on_device) ranges.push_back({"alpha", const_cast<void*>(g.alpha_on_device), scale, false});
  if (g.beta_on_device) ranges.push_back({"beta", const_cast<void*>(g.beta_on_device), scale, false});
  const Epilogue& e = g.epilogue;
  const bool gradient = e.bias_gradient_of_d || e.bias_gradient_of_a || e.bias_gradient_of_b;
  if (e.bias && (e.adds_bias || gradient))
    ranges.push_back(
        {"bias", e.bias, (e.bias_gradient_of_b ? g.n() : g.m()) * width_of(e.bias_type), gradient});
  if (e.aux) {
    const std::size_t elements = g.n() ? (g.n() - 1) * static_cast<std::size_t>(e.aux_leading) + g.m() : 0;
    const bool bits = e.relu || e.drelu;
    ranges.push_back(
        {"aux", e.aux, bits ? (elements + 7) / 8 : elements * width_of(e.aux_type), e.writes_aux});
  }
  return ranges;
}

void multiply_double(const Gemm& g, std::size_t entry, double alpha, double beta) {
  const auto element = [&](const Matrix& x, bool transpose, std::size_t i, std::size_t j) {
    return load(
        x.data, x.type,
        entry * static_cast<std::size_t>(x.batch_stride) + (transpose ? x.offset(j, i) : x.offset(i, j)));
  };
  for (std::size_t j = 0; j < g.n(); ++j)
    for (std::size_t i = 0; i < g.m(); ++i) {
      double sum = 0;
      for (std::size_t p = 0; p < g.k(); ++p)
        sum += element(g.a, g.transpose_a, i, p) * element(g.b, g.transpose_b, p, j);
      const double old = beta != 0 ? beta * element(g.c, false, i, j) : 0;
      store(g.d.data, g.d.type, entry * static_cast<std::size_t>(g.d.batch_stride) + g.d.offset(i, j),
            alpha * sum + old);
    }
}

cudaError_t run(const Gemm& g, const char* name) {
  const Unseen unseen;  // buffers of its own; what the caller sees is declared by run_declared
  (void)name;
  const double alpha =
      g.alpha_on_device ? load(g.alpha_on_device, g.scale_is_double ? CUDA_R_64F : CUDA_R_32F, 0) : g.alpha;
  const double beta =
      g.beta_on_device ? load(g.beta_on_device, g.scale_is_double ? CUDA_R_64F : CUDA_R_32F, 0) : g.beta;
  if (g.workspace) std::memset(g.workspace, 0xff, g.workspace_bytes);
  std::vector<float> product(g.d.type == CUDA_R_64F ? 0 : g.m() * g.n());
  for (std::size_t entry = 0; entry < g.batch; ++entry) {
    if (g.d.type == CUDA_R_64F) {
      multiply_double(g, entry, alpha, beta);
      continue;
    }
    multiply(g, entry, product.data());
    finish_gemm(g, entry, product.data(), alpha, beta);
  }
  return cudaSuccess;
}

}  // namespace

bool is_float_type(cudaDataType_t type) {
  return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

std::size_t width_of(cudaDataType_t type) {
  return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

double load(const void* from, cudaDataType_t type, std::size_t index) {
  switch (type) {
    case CUDA_R_64F:
      return static_cast<const double*>(from)[index];
    case CUDA_R_16F:
      return static_cast<double>(__half2float(static_cast<const __half*>(from)[index]));
    case CUDA_R_16BF:
      return static_cast<double>(__bfloat162float(static_cast<const __nv_bfloat16*>(from)[index]));
    default:
      return static_cast<double>(static_cast<const float*>(from)[index]);
  }
}

void store(void* to, cudaDataType_t type, std::size_t index, double value) {
  switch (type) {
    case CUDA_R_64F:
      static_cast<double*>(to)[index] = value;
      break;
    case CUDA_R_16F:
      static_cast<__half*>(to)[index] = __float2half_rn(static_cast<float>(value));
      break;
    case CUDA_R_16BF:
      static_cast<__nv_bfloat16*>(to)[index] = __float2bfloat16_rn(static_cast<float>(value));
      break;
    default:
      static_cast<float*>(to)[index] = static_cast<float>(value);
  }
}

float round_to_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0x1000u) & ~0x1fffu);
}

bool shapes_fit(const Gemm& g) {
  const std::uint64_t k_of_b = g.transpose_b ? g.b.columns : g.b.rows;
  if ((g.transpose_a ? g.a.columns : g.a.rows) != g.m() || (g.transpose_b ? g.b.rows : g.b.columns) != g.n())
    return false;
  if (g.k() != k_of_b || g.c.rows != g.m() || g.c.columns != g.n()) return false;
  return g.a.well_formed() && g.b.well_formed() && g.c.well_formed() && g.d.well_formed();
}

void multiply(const Gemm& g, std::size_t entry, float* product) {
  thread_local std::vector<float> a, b;
  pack(g.a, g.transpose_a, entry, g.rounding, false, a);
  pack(g.b, g.transpose_b, entry, g.rounding, true, b);
  static const bool avx2 = has_avx2();
  (avx2 ? product_avx2 : product_plain)(a.data(), b.data(), g.m(), g.n(), g.k(), product);
}

Ref<Operation> make_gemm(const Gemm& gemm, const char* name) {
  return make_operation(Kind::kGemm, name, [gemm, name] {
    const auto ranges = [&] {
      const Unseen unseen;
      return std::make_unique<std::vector<Range>>(ranges_of(gemm));
    }();
    for (const Range& range : *ranges) {
      if (range.bytes == 0) continue;
      {
        const Unseen unseen;
        if (!may_touch(current_device(), range.data, range.bytes)) {
          std::fprintf(stderr,
                       "emulated CUDA: %s: %s (%p, %zu bytes) is no memory that device %d may touch\n", name,
                       range.name, range.data, range.bytes, current_device());
          return cudaErrorIllegalAddress;
        }
      }
      range.written ? writes(range.data, range.bytes) : reads(range.data, range.bytes);
    }
    return run(gemm, name);
  });
}

}  // namespace mirrorscale::emulated_cuda

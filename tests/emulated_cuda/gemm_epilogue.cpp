#include "emulated_cuda/gemm.h"
#include <algorithm>
#include <cmath>
#include <vector>

namespace mirrorscale::emulated_cuda {
namespace {

/// The tanh form, which is what cublasLt computes.
double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

double gelu_slope(double x) {
  const double inner = 0.7978845608028654 * (x + 0.044715 * x * x * x);
  const double tanh = std::tanh(inner);
  return 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

bool bit(const void* mask, std::size_t at) {
  return (static_cast<const unsigned char*>(mask)[at / 8] >> (at % 8) & 1) != 0;
}

void set_bit(void* mask, std::size_t at, bool value) {
  unsigned char& byte = static_cast<unsigned char*>(mask)[at / 8];
  byte = static_cast<unsigned char>((byte & ~(1u << (at % 8))) | (static_cast<unsigned>(value) << (at % 8)));
}

/// One element: the forward activation with what it leaves in aux, or the backward one by what it finds
/// there.
double activate(const Epilogue& e, double value, std::size_t row, std::size_t column) {
  const std::size_t aux_at = column * static_cast<std::size_t>(e.aux_leading) + row;
  if (e.relu) {
    if (e.writes_aux) set_bit(e.aux, aux_at, value > 0);
    return std::isnan(value) ? value : std::max(value, 0.0);
  }
  if (e.gelu) {
    if (e.writes_aux) store(e.aux, e.aux_type, aux_at, value);
    return gelu(value);
  }
  if (e.drelu) return bit(e.aux, aux_at) ? value : 0;
  if (e.dgelu) return value * gelu_slope(load(e.aux, e.aux_type, aux_at));
  return value;
}

/// bias[i] = Σ_p op(A)[i][p], or bias[j] = Σ_p op(B)[p][j].
void sum_over_k(const Gemm& g, const Matrix& x, bool k_is_row, std::size_t entry) {
  const std::size_t count = k_is_row ? x.columns : x.rows;
  const std::size_t base = entry * static_cast<std::size_t>(x.batch_stride);
  for (std::size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (std::size_t p = 0; p < g.k(); ++p)
      sum += static_cast<float>(load(x.data, x.type, base + (k_is_row ? x.offset(p, i) : x.offset(i, p))));
    store(g.epilogue.bias, g.epilogue.bias_type, i, static_cast<double>(sum));
  }
}

}  // namespace

void finish_gemm(const Gemm& g, std::size_t entry, const float* product, double alpha, double beta) {
  const Epilogue& e = g.epilogue;
  const std::size_t c_base = entry * static_cast<std::size_t>(g.c.batch_stride);
  const std::size_t d_base = entry * static_cast<std::size_t>(g.d.batch_stride);
  const std::size_t m = g.m(), n = g.n();
  // The common case, in floats and without a look at each element's type.
  if (e.is_plain() && g.d.type == CUDA_R_32F && beta == 0 && !g.d.row_major) {
    const float scale = static_cast<float>(alpha);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < m; ++i)
        static_cast<float*>(g.d.data)[d_base + g.d.offset(i, j)] = scale * product[j * m + i];
    return;
  }
  std::vector<float> column_sums(e.bias_gradient_of_d ? m : 0, 0.0f);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < m; ++i) {
      float value = static_cast<float>(alpha) * product[j * m + i];
      if (beta != 0)
        value += static_cast<float>(beta) *
                 static_cast<float>(load(g.c.data, g.c.type, c_base + g.c.offset(i, j)));
      if (e.adds_bias) value += static_cast<float>(load(e.bias, e.bias_type, i));
      value = static_cast<float>(activate(e, static_cast<double>(value), i, j));
      if (e.bias_gradient_of_d) column_sums[i] += value;
      store(g.d.data, g.d.type, d_base + g.d.offset(i, j), static_cast<double>(value));
    }
  for (std::size_t i = 0; i < column_sums.size(); ++i)
    store(e.bias, e.bias_type, i, static_cast<double>(column_sums[i]));
  if (e.bias_gradient_of_a) sum_over_k(g, g.a, g.transpose_a, entry);
  if (e.bias_gradient_of_b) sum_over_k(g, g.b, !g.transpose_b, entry);
}

}  // namespace mirrorscale::emulated_cuda

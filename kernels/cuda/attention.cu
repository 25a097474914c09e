// Attention: a block of threads a row and head, with the row's scores in shared memory. Written for its bits,
// not yet for speed.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/row.h"
#include "kernels/exact/scalar.h"

namespace mirrorscale::kernels::cuda {
namespace {

constexpr int kThreads = 64;

/// One head of the sample that a row belongs to.
struct Head {
  const float* qkv;
  int stride, first_row, columns, column, size;
  float scale;

  __device__ const float* at(int t, int part) const {
    return qkv + row_start(first_row + t, stride) + part * columns + column;
  }
  __device__ float score(int t, int u) const { return product(at(t, 0), at(u, 1)) * scale; }
  __device__ float product(const float* a, const float* b) const {
    float sum = 0;
    for (int d = 0; d < size; ++d) sum = number::fma(a[d], b[d], sum);
    return sum;
  }
};
__device__ inline Head this_head(const float* qkv, int stride, const Attention& a, int columns, float scale) {
  const int size = columns / a.heads, row = static_cast<int>(blockIdx.x);
  return {qkv,  stride, row / a.positions * a.positions, columns, static_cast<int>(blockIdx.y) * size,
          size, scale};
}

/// The sum of 16 chains over `count` values, known to every thread. step(sum so far, i)
template <class Step>
__device__ __forceinline__ float sum_along(int count, const Step& step) {
  float chain = 0;
  for (int i = static_cast<int>(threadIdx.x) % kPanel; i < count; i += kPanel) chain = step(chain, i);
  return sum_of_lanes(chain);
}

__global__ void __launch_bounds__(kThreads)
    attention_kernel(Attention a, const float* qkv, int stride, float scale, float* norms, int norms_stride,
                     float* y, int y_stride, int columns) {
  float* scores = dynamic_shared<float>();
  const Head head = this_head(qkv, stride, a, columns, scale);
  const auto row = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x),
             number = static_cast<int>(blockIdx.y);
  const int t = row % a.positions, seen = a.causal ? t + 1 : a.positions, end = a.end(t);
  for (int u = thread; u < seen; u += kThreads) scores[u] = head.score(t, u);
  __syncthreads();
  float top = number::from_bits(static_cast<int>(0xff800000U));  // -infinity
  for (int u = thread % kPanel; u < seen; u += kPanel) top = top < scores[u] ? scores[u] : top;
  top = maximum_of_lanes(top);
  __syncthreads();
  for (int u = thread; u < end; u += kThreads) scores[u] = u < seen ? exact::exp(scores[u] - top) : 0.0F;
  __syncthreads();
  const float sum = sum_along(seen, [&](float chain, int u) { return chain + scores[u]; });
  if (thread == 0) {
    norms[row_start(row, norms_stride) + static_cast<std::size_t>(number)] = top;
    norms[row_start(row, norms_stride) + static_cast<std::size_t>(a.heads + number)] = sum;
  }
  for (int d = thread; d < head.size; d += kThreads) {
    float chain = 0;
    for (int u = 0; u < end; ++u) chain = number::fma(scores[u], head.at(u, 2)[d], chain);
    y[row_start(row, y_stride) + static_cast<std::size_t>(head.column + d)] = chain / sum;
  }
}

/// Gradients of the queries; and dots(row, head), the sum of y dy along the head, for the other kernel.
__global__ void __launch_bounds__(kThreads)
    attention_queries_kernel(Attention a, const float* qkv, int stride, float scale, const float* norms,
                             int norms_stride, const float* y, int y_stride, const float* dy, int dy_stride,
                             float* dqkv, int dqkv_stride, float* dots, int columns) {
  float* of_scores = dynamic_shared<float>();
  const Head head = this_head(qkv, stride, a, columns, scale);
  const auto row = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x),
             number = static_cast<int>(blockIdx.y);
  const int t = row % a.positions, seen = a.causal ? t + 1 : a.positions, end = a.end(t);
  const float* out = y + row_start(row, y_stride) + head.column;
  const float* g = dy + row_start(row, dy_stride) + head.column;
  const float dot =
      sum_along(head.size, [&](float chain, int d) { return number::fma(g[d], out[d], chain); });
  if (thread == 0) dots[row * a.heads + number] = dot;
  const float top = norms[row_start(row, norms_stride) + static_cast<std::size_t>(number)],
              sum = norms[row_start(row, norms_stride) + static_cast<std::size_t>(a.heads + number)];
  for (int u = thread; u < end; u += kThreads) {
    const float share = u < seen ? exact::exp(head.score(t, u) - top) / sum : 0.0F;
    of_scores[u] = u < seen ? share * (head.product(g, head.at(u, 2)) - dot) : 0.0F;
  }
  __syncthreads();
  for (int d = thread; d < head.size; d += kThreads) {
    float chain = 0;
    for (int u = 0; u < end; ++u) chain = number::fma(of_scores[u], head.at(u, 1)[d], chain);
    dqkv[row_start(row, dqkv_stride) + static_cast<std::size_t>(head.column + d)] = chain * head.scale;
  }
}

/// Gradients of the keys and values.
__global__ void __launch_bounds__(kThreads)
    attention_keys_kernel(Attention a, const float* qkv, int stride, float scale, const float* norms,
                          int norms_stride, const float* dy, int dy_stride, const float* dots, float* dqkv,
                          int dqkv_stride, int columns) {
  float *shares = dynamic_shared<float>(), *of_scores = shares + a.positions;
  const Head head = this_head(qkv, stride, a, columns, scale);
  const auto row = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x),
             number = static_cast<int>(blockIdx.y);
  const int u = row % a.positions, begin = a.begin(u);
  for (int t = begin + thread; t < a.positions; t += kThreads) {
    const int other = head.first_row + t;
    const float* of_row = norms + row_start(other, norms_stride) + number;
    const bool seen = !a.causal || u <= t;
    const float* g = dy + row_start(other, dy_stride) + head.column;
    shares[t] = seen ? exact::exp(head.score(t, u) - of_row[0]) / of_row[a.heads] : 0.0F;
    of_scores[t] =
        seen ? shares[t] * (head.product(g, head.at(u, 2)) - dots[other * a.heads + number]) : 0.0F;
  }
  __syncthreads();
  float* out = dqkv + row_start(row, dqkv_stride) + head.column;
  for (int d = thread; d < head.size; d += kThreads) {
    float key = 0, value = 0;
    for (int t = begin; t < a.positions; ++t) {
      key = number::fma(of_scores[t], head.at(t, 0)[d], key);
      value = number::fma(shares[t], dy[row_start(head.first_row + t, dy_stride) + head.column + d], value);
    }
    out[columns + d] = key * head.scale;
    out[2 * columns + d] = value;
  }
}

Launch attention_launch(const char* name, cudaStream_t stream, const Attention& a, int rows, int rows_kept) {
  return {.name = name,
          .blocks = static_cast<std::size_t>(rows),
          .threads = kThreads,
          .stream = stream,
          .shared_bytes = sizeof(float) * static_cast<std::size_t>(a.positions * rows_kept),
          .columns = static_cast<unsigned>(a.heads)};
}

}  // namespace

cudaError_t launch_attention(cudaStream_t stream, const Attention& a, ConstMatrix qkv, Matrix norms,
                             Matrix y) {
  return launch(attention_launch("attention", stream, a, y.rows, 1), &attention_kernel, a, qkv.data,
                qkv.row_stride, Attention::scale(a.head_size(y.columns)), norms.data, norms.row_stride,
                y.data, y.row_stride, y.columns);
}

cudaError_t launch_attention_backward(cudaStream_t stream, const Attention& a, ConstMatrix qkv,
                                      ConstMatrix norms, ConstMatrix y, ConstMatrix dy, Matrix dqkv,
                                      float* dots) {
  const float scale = Attention::scale(a.head_size(y.columns));
  const cudaError_t status =
      launch(attention_launch("attention_queries", stream, a, y.rows, 1), &attention_queries_kernel, a,
             qkv.data, qkv.row_stride, scale, norms.data, norms.row_stride, y.data, y.row_stride, dy.data,
             dy.row_stride, dqkv.data, dqkv.row_stride, dots, y.columns);
  if (status != cudaSuccess) return status;
  return launch(attention_launch("attention_keys", stream, a, y.rows, 2), &attention_keys_kernel, a, qkv.data,
                qkv.row_stride, scale, norms.data, norms.row_stride, dy.data, dy.row_stride, dots, dqkv.data,
                dqkv.row_stride, y.columns);
}

}  // namespace mirrorscale::kernels::cuda

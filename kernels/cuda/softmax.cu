// Softmax, its gradient, and softmax with cross-entropy: each row in one pass.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/row.h"

namespace mirrorscale::kernels::cuda {
namespace {

template <int kHeld>
__global__ void __launch_bounds__(kRowThreads)
    softmax_kernel(const float* z, int z_stride, float* p, int p_stride, int rows, int columns) {
  const RowPart part = this_row(rows);
  const RowValues<kHeld> values(z + row_start(part.row, z_stride), part.lane, part.there ? columns : 0);
  const float top = row_maximum(values), sum = exponential_sum(values, top);
  float* out = p + row_start(part.row, p_stride);
  values.each([&](int c, float v) { out[c] = exact::exp(v - top) / sum; });
}

template <int kHeld>
__global__ void __launch_bounds__(kRowThreads)
    softmax_backward_kernel(const float* p, int p_stride, const float* dy, int dy_stride, float* dz,
                            int dz_stride, int rows, int columns) {
  const RowPart part = this_row(rows);
  const int mine = part.there ? columns : 0;
  const float *p_row = p + row_start(part.row, p_stride), *dy_row = dy + row_start(part.row, dy_stride);
  const RowValues<kHeld> values(dy_row, part.lane, mine);
  float chain = 0;
  values.each([&](int c, float v) { chain = number::fma(v, p_row[c], chain); });
  const float dot = sum_of_lanes(chain);
  float* out = dz + row_start(part.row, dz_stride);
  values.each([&](int c, float v) { out[c] = p_row[c] * (v - dot); });
}

/// `gradient` may be the logits: each thread reads its columns before it writes them.
template <int kHeld>
__global__ void __launch_bounds__(kRowThreads)
    softmax_cross_entropy_kernel(const float* logits, int logits_stride, const int* labels,
                                 const float* weights, float smoothing, float* gradient, int gradient_stride,
                                 float* loss, std::size_t loss_stride, int rows, int columns) {
  const RowPart part = this_row(rows);
  const float* row = logits + row_start(part.row, logits_stride);
  const RowValues<kHeld> values(row, part.lane, part.there ? columns : 0);
  const float top = row_maximum(values), sum = exponential_sum(values, top);
  const float own = 1.0F - smoothing, other = smoothing / static_cast<float>(columns);
  float scores = 0;  // summed where there is smoothing, by whole groups of lanes
  if (smoothing > 0.0F) {
    float chain = 0;
    values.each([&](int, float v) { chain = chain + (v - top); });
    scores = sum_of_lanes(chain);
  }
  if (!part.there) return;
  const int label = labels[part.row];
  const float weight = weights == nullptr ? 1.0F : weights[part.row];
  if (loss != nullptr && label % kPanel == part.lane) {
    float score = row[label] - top;
    if (smoothing > 0.0F) score = own * score + other * scores;
    loss[static_cast<std::size_t>(part.row) * loss_stride] = weight * (exact::log(sum) - score);
  }
  if (gradient == nullptr) return;
  float* out = gradient + row_start(part.row, gradient_stride);
  values.each([&](int c, float v) {
    const float share = exact::exp(v - top) / sum;
    out[c] = (share - (c == label ? own + other : other)) * weight;
  });
}

}  // namespace

cudaError_t launch_softmax(cudaStream_t stream, ConstMatrix z, Matrix p) {
  return with_held(z.columns, [&](auto held) {
    return launch(row_launch("softmax", stream, z.rows), &softmax_kernel<held()>, z.data, z.row_stride,
                  p.data, p.row_stride, z.rows, z.columns);
  });
}

cudaError_t launch_softmax_backward(cudaStream_t stream, ConstMatrix p, ConstMatrix dy, Matrix dz) {
  return with_held(p.columns, [&](auto held) {
    return launch(row_launch("softmax_backward", stream, p.rows), &softmax_backward_kernel<held()>, p.data,
                  p.row_stride, dy.data, dy.row_stride, dz.data, dz.row_stride, p.rows, p.columns);
  });
}

cudaError_t launch_softmax_cross_entropy(cudaStream_t stream, ConstMatrix logits, const int* labels,
                                         const float* weights, float smoothing, Matrix gradient,
                                         Column loss) {
  return with_held(logits.columns, [&](auto held) {
    return launch(row_launch("softmax_cross_entropy", stream, logits.rows),
                  &softmax_cross_entropy_kernel<held()>, logits.data, logits.row_stride, labels, weights,
                  smoothing, gradient.data, gradient.row_stride, loss.data, loss.stride, logits.rows,
                  logits.columns);
  });
}

}  // namespace mirrorscale::kernels::cuda

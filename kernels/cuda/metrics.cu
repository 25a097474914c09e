// Metrics per row.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/row.h"

namespace mirrorscale::kernels::cuda {
namespace {

__global__ void __launch_bounds__(kRowThreads)
    sparse_hits_kernel(const float* scores, int stride, const int* labels, const float* weights, float* hits,
                       std::size_t hits_stride, int rows, int columns) {
  const RowPart part = this_row(rows);
  const RowValues<0> values(scores + row_start(part.row, stride), part.lane, part.there ? columns : 0);
  const float top = row_maximum(values);
  int first = columns;
  values.each([&](int c, float v) {
    if (v == top && c < first) first = c;
  });
  first = minimum_of_lanes(first);
  if (!part.there || part.lane != 0) return;
  const float weight = weights == nullptr ? 1.0F : weights[part.row];
  hits[static_cast<std::size_t>(part.row) * hits_stride] = weight * (first == labels[part.row] ? 1.0F : 0.0F);
}

__global__ void __launch_bounds__(kRowThreads)
    binary_hits_kernel(const float* prediction, int stride, const float* target, int target_stride,
                       float threshold, const float* weights, float* hits, std::size_t hits_stride, int rows,
                       int columns) {
  const RowPart part = this_row(rows);
  const float *p_row = prediction + row_start(part.row, stride),
              *t_row = target + row_start(part.row, target_stride);
  int count = 0;
  for (int c = part.lane; part.there && c < columns; c += kPanel) {
    count += (p_row[c] > threshold) == (t_row[c] > 0.5F) ? 1 : 0;
  }
  count = count_of_lanes(count);
  if (!part.there || part.lane != 0) return;
  const float weight = weights == nullptr ? 1.0F : weights[part.row];
  hits[static_cast<std::size_t>(part.row) * hits_stride] =
      weight * (static_cast<float>(count) / static_cast<float>(columns));
}

}  // namespace

cudaError_t launch_sparse_hits(cudaStream_t stream, ConstMatrix scores, const int* labels,
                               const float* weights, Column hits) {
  return launch(row_launch("sparse_hits", stream, scores.rows), &sparse_hits_kernel, scores.data,
                scores.row_stride, labels, weights, hits.data, hits.stride, scores.rows, scores.columns);
}

cudaError_t launch_binary_hits(cudaStream_t stream, ConstMatrix prediction, ConstMatrix target,
                               float threshold, const float* weights, Column hits) {
  return launch(row_launch("binary_hits", stream, prediction.rows), &binary_hits_kernel, prediction.data,
                prediction.row_stride, target.data, target.row_stride, threshold, weights, hits.data,
                hits.stride, prediction.rows, prediction.columns);
}

}  // namespace mirrorscale::kernels::cuda

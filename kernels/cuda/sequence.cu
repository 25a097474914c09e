// Rows of a sequence: layer norm, embeddings of tokens and positions, dropout. Written for their bits, not
// yet for speed.
#include "kernels/cuda/fours.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/row.h"
#include "kernels/cuda/tree.h"
#include "kernels/exact/number.h"

namespace mirrorscale::kernels::cuda {
namespace {

/// `y` may be `x`: each thread reads its columns before it writes them.
__global__ void __launch_bounds__(kRowThreads)
    layer_norm_kernel(const float* x, int x_stride, const float* gamma, const float* beta, float epsilon,
                      float* moments, int moments_stride, float* y, int y_stride, int rows, int columns) {
  const RowPart part = this_row(rows);
  const RowValues<0> values(x + row_start(part.row, x_stride), part.lane, part.there ? columns : 0);
  const auto count = static_cast<float>(columns);
  float sum = 0, squares = 0;
  values.each([&](int, float v) { sum = sum + v; });
  const float mean = sum_of_lanes(sum) / count;
  values.each([&](int, float v) { squares = number::fma(v - mean, v - mean, squares); });
  const float inverse = 1.0F / number::root(sum_of_lanes(squares) / count + epsilon);
  if (!part.there) return;
  if (part.lane < 2) {
    moments[row_start(part.row, moments_stride) + static_cast<std::size_t>(part.lane)] =
        part.lane == 0 ? mean : inverse;
  }
  float* out = y + row_start(part.row, y_stride);
  values.each([&](int c, float v) { out[c] = number::fma((v - mean) * inverse, gamma[c], beta[c]); });
}

/// `dx` may be `dy` or `x`.
__global__ void __launch_bounds__(kRowThreads)
    layer_norm_backward_kernel(const float* x, int x_stride, const float* moments, int moments_stride,
                               const float* gamma, const float* dy, int dy_stride, float* scaled,
                               int scaled_stride, float* dx, int dx_stride, int rows, int columns) {
  const RowPart part = this_row(rows);
  const RowValues<0> values(x + row_start(part.row, x_stride), part.lane, part.there ? columns : 0);
  const float* g = dy + row_start(part.row, dy_stride);
  const float* of_row = moments + row_start(part.there ? part.row : 0, moments_stride);
  const float mean = of_row[0], inverse = of_row[1];
  const auto count = static_cast<float>(columns);
  float direct = 0, along = 0;
  values.each([&](int c, float v) {
    const float weighted = g[c] * gamma[c];
    direct = direct + weighted;
    along = number::fma(weighted, (v - mean) * inverse, along);
  });
  direct = sum_of_lanes(direct) / count;
  along = sum_of_lanes(along) / count;
  if (!part.there) return;
  float* product = scaled + row_start(part.row, scaled_stride);
  float* out = dx == nullptr ? nullptr : dx + row_start(part.row, dx_stride);
  values.each([&](int c, float v) {
    const float h = (v - mean) * inverse, dy_here = g[c], weighted = dy_here * gamma[c];
    product[c] = dy_here * h;
    if (out != nullptr) out[c] = inverse * (weighted - number::fma(h, along, direct));
  });
}

/// ids(s, t) of row s T + t.
__device__ inline int id_of(const float* ids, int stride, int time, int row) {
  return static_cast<int>(ids[row_start(row / time, stride) + static_cast<std::size_t>(row % time)]);
}

__global__ void __launch_bounds__(kFoursThreads)
    embed_kernel(const float* ids, int ids_stride, int time, const float* table, int table_stride, float* y,
                 int y_stride, std::size_t count, int columns) {
  const auto i = global_thread();
  if (i >= count) return;
  const auto row = static_cast<int>(i / static_cast<std::size_t>(columns));
  const auto c = i % static_cast<std::size_t>(columns);
  y[row_start(row, y_stride) + c] = table[row_start(id_of(ids, ids_stride, time, row), table_stride) + c];
}

struct LeafSum {
  float value;
  __device__ void add_to(const LeafSum& left) { value = left.value + value; }
};

constexpr int kTableThreads = 64;

/// A block a row of the table and 64 columns: each thread looks at all ids.
__global__ void __launch_bounds__(kTableThreads)
    embed_backward_kernel(const float* ids, int ids_stride, int time, const float* dy, int dy_stride,
                          int samples, int shard_samples, float* dtable, int stride, int tokens,
                          int columns) {
  const auto v = static_cast<int>(blockIdx.x);
  const int c = static_cast<int>(blockIdx.y) * kTableThreads + static_cast<int>(threadIdx.x);
  if (c >= stride) return;
  LeafSum sum{0};
  if (v < tokens && c < columns) {
    TreeStack<LeafSum, 31> tree;
    const int leaves = (samples + shard_samples - 1) / shard_samples;
    for (int leaf = 0; leaf < leaves; ++leaf) {
      const int last = (leaf + 1) * shard_samples < samples ? (leaf + 1) * shard_samples : samples;
      sum.value = 0;
      for (int row = leaf * shard_samples * time; row < last * time; ++row) {
        if (id_of(ids, ids_stride, time, row) == v) sum.value = sum.value + dy[row_start(row, dy_stride) + c];
      }
      tree.push(sum, leaf, 0, leaf + 1 == leaves);
    }
  }
  dtable[row_start(v, stride) + static_cast<std::size_t>(c)] = sum.value;
}

__global__ void __launch_bounds__(kFoursThreads)
    add_positions_kernel(const float* x, int x_stride, const float* table, int table_stride, int time,
                         float* y, int y_stride, std::size_t count, int columns) {
  const auto i = global_thread();
  if (i >= count) return;
  const auto row = static_cast<int>(i / static_cast<std::size_t>(columns));
  const auto c = i % static_cast<std::size_t>(columns);
  y[row_start(row, y_stride) + c] =
      x[row_start(row, x_stride) + c] + table[row_start(row % time, table_stride) + c];
}

__global__ void __launch_bounds__(kTableThreads)
    sum_positions_kernel(const float* dy, int dy_stride, int samples, int shard_samples, float* dtable,
                         int stride, int time, int columns) {
  const auto t = static_cast<int>(blockIdx.x);
  const int c = static_cast<int>(blockIdx.y) * kTableThreads + static_cast<int>(threadIdx.x);
  if (c >= stride) return;
  LeafSum sum{0};
  if (t < time && c < columns) {
    TreeStack<LeafSum, 31> tree;
    const int leaves = (samples + shard_samples - 1) / shard_samples;
    for (int leaf = 0; leaf < leaves; ++leaf) {
      const int last = (leaf + 1) * shard_samples < samples ? (leaf + 1) * shard_samples : samples;
      sum.value = 0;
      for (int s = leaf * shard_samples; s < last; ++s) {
        sum.value = sum.value + dy[row_start(s * time + t, dy_stride) + c];
      }
      tree.push(sum, leaf, 0, leaf + 1 == leaves);
    }
  }
  dtable[row_start(t, stride) + static_cast<std::size_t>(c)] = sum.value;
}

/// A thread the four columns that share their words.
__global__ void __launch_bounds__(kFoursThreads)
    dropout_kernel(PhiloxKey key, float rate, float factor, int positions, std::int64_t first_sample,
                   const float* x, int x_stride, float* y, int y_stride, std::size_t count, int groups,
                   int columns) {
  const auto i = global_thread();
  if (i >= count) return;
  const auto lane = static_cast<int>(i % kPanel), of_row = static_cast<int>(i / kPanel);
  const int group = of_row % groups, row = of_row / groups;
  const auto words = Dropout::words(key, first_sample + row / positions, row % positions, group, lane);
  for (int n = 0; n < 4; ++n) {
    const int c = group * 64 + n * kPanel + lane;
    if (c >= columns) return;
    const std::size_t from = row_start(row, x_stride) + static_cast<std::size_t>(c),
                      to = row_start(row, y_stride) + static_cast<std::size_t>(c);
    y[to] = to_unit_float(words[static_cast<std::size_t>(n)]) < rate ? 0.0F : x[from] * factor;
  }
}

std::size_t elements(const Matrix& m) {
  return static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.columns);
}
Launch table_launch(const char* name, cudaStream_t stream, const Matrix& table) {
  return {.name = name,
          .blocks = static_cast<std::size_t>(padded(table.rows)),
          .threads = kTableThreads,
          .stream = stream,
          .columns = static_cast<unsigned>((table.row_stride + kTableThreads - 1) / kTableThreads)};
}
Launch elements_launch(const char* name, cudaStream_t stream, std::size_t count) {
  return {
      .name = name, .blocks = blocks_of(count, kFoursThreads), .threads = kFoursThreads, .stream = stream};
}

}  // namespace

cudaError_t launch_layer_norm(cudaStream_t stream, ConstMatrix x, const float* gamma, const float* beta,
                              float epsilon, Matrix moments, Matrix y) {
  return launch(row_launch("layer_norm", stream, x.rows), &layer_norm_kernel, x.data, x.row_stride, gamma,
                beta, epsilon, moments.data, moments.row_stride, y.data, y.row_stride, x.rows, x.columns);
}
cudaError_t launch_layer_norm_backward(cudaStream_t stream, ConstMatrix x, ConstMatrix moments,
                                       const float* gamma, ConstMatrix dy, Matrix scaled, Matrix dx) {
  return launch(row_launch("layer_norm_backward", stream, x.rows), &layer_norm_backward_kernel, x.data,
                x.row_stride, moments.data, moments.row_stride, gamma, dy.data, dy.row_stride, scaled.data,
                scaled.row_stride, dx.data, dx.row_stride, x.rows, x.columns);
}

cudaError_t launch_embed(cudaStream_t stream, ConstMatrix ids, ConstMatrix table, Matrix y) {
  return launch(elements_launch("embed", stream, elements(y)), &embed_kernel, ids.data, ids.row_stride,
                ids.columns, table.data, table.row_stride, y.data, y.row_stride, elements(y), y.columns);
}
cudaError_t launch_embed_backward(cudaStream_t stream, ConstMatrix ids, ConstMatrix dy, int shard_samples,
                                  Matrix dtable) {
  return launch(table_launch("embed_backward", stream, dtable), &embed_backward_kernel, ids.data,
                ids.row_stride, ids.columns, dy.data, dy.row_stride, ids.rows, shard_samples, dtable.data,
                dtable.row_stride, dtable.rows, dtable.columns);
}
cudaError_t launch_add_positions(cudaStream_t stream, ConstMatrix x, ConstMatrix table, Matrix y) {
  return launch(elements_launch("add_positions", stream, elements(y)), &add_positions_kernel, x.data,
                x.row_stride, table.data, table.row_stride, table.rows, y.data, y.row_stride, elements(y),
                y.columns);
}
cudaError_t launch_sum_positions(cudaStream_t stream, ConstMatrix dy, int shard_samples, Matrix dtable) {
  return launch(table_launch("sum_positions", stream, dtable), &sum_positions_kernel, dy.data, dy.row_stride,
                dy.rows / dtable.rows, shard_samples, dtable.data, dtable.row_stride, dtable.rows,
                dtable.columns);
}

cudaError_t launch_dropout(cudaStream_t stream, const Dropout& d, ConstMatrix x, Matrix y) {
  const int groups = (y.columns + 63) / 64;
  const std::size_t count =
      static_cast<std::size_t>(y.rows) * static_cast<std::size_t>(groups) * static_cast<std::size_t>(kPanel);
  return launch(elements_launch("dropout", stream, count), &dropout_kernel, d.key, d.rate, d.factor(),
                d.positions, d.first_sample, x.data, x.row_stride, y.data, y.row_stride, count, groups,
                y.columns);
}

}  // namespace mirrorscale::kernels::cuda

// Attention, head by head: products of small matrices that stay in cache.
#include "kernels/cpu/parts.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/row_loops-inl.h"
#include "kernels/cpu/transpose-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {

const ProductTable* product_table();
const GradientTable* gradient_table();

namespace {

constexpr int kRows = Attention::kBlock;

/// Columns of a head of one sample, out of a matrix of all.
struct Part {
  int first_row, first_column;
};

/// to(r, c) = from(first_row + r, first_column + c)
void gather(ConstMatrix from, Part part, Matrix to) {
  if (part.first_column % kPanel != 0) {
    for (int r = 0; r < to.rows; ++r) {
      for (int c = 0; c < to.columns; ++c) to.at(r, c) = from.at(part.first_row + r, part.first_column + c);
    }
    return;
  }
  for (int p = 0; p < panels(to.columns); ++p) {
    const float* in = &from.at(part.first_row, part.first_column + p * kPanel);
    float* out = to.data + static_cast<std::size_t>(p) * to.panel_stride;
    for (int i = 0; i < to.rows * kPanel; i += kLanes) store(load(in + i), out + i);
  }
}
/// to(first_row + r, first_column + c) = from(r, c) * factor
void scatter(ConstMatrix from, float factor, Part part, Matrix to) {
  if (part.first_column % kPanel != 0 || from.columns % kPanel != 0) {
    for (int r = 0; r < from.rows; ++r) {
      for (int c = 0; c < from.columns; ++c)
        to.at(part.first_row + r, part.first_column + c) = from.at(r, c) * factor;
    }
    return;
  }
  const F32 all = broadcast(factor);
  for (int p = 0; p < panels(from.columns); ++p) {
    const float* in = from.data + static_cast<std::size_t>(p) * from.panel_stride;
    float* out = &to.at(part.first_row, part.first_column + p * kPanel);
    for (int i = 0; i < from.rows * kPanel; i += kLanes) store(load(in + i) * all, out + i);
  }
}

/// mt = m' in panels; rows of m that it doesn't have become columns that nothing reads.
void transpose(ConstMatrix m, Matrix mt) {
  for (int r = 0; r < m.rows; r += kPanel) {
    for (int p = 0; p < panels(m.columns); ++p) {
      transpose_block(m.data + static_cast<std::size_t>(p) * m.panel_stride + r * kPanel,
                      mt.data + static_cast<std::size_t>(r / kPanel) * mt.panel_stride + p * kBlock);
    }
  }
}

/// Columns first .. first + count - 1, first a multiple of 16.
ConstMatrix slice_columns(ConstMatrix m, int first, int count) {
  return {m.data + static_cast<std::size_t>(first / kPanel) * m.panel_stride, m.rows, count, m.panel_stride};
}

/// The matrices of one head, in the scratch of an op.
class Desk {
 public:
  explicit Desk(float* scratch) : at_(scratch) {}
  /// With room for whole blocks of rows.
  Matrix rows(int count, int columns) {
    const int capacity = padded(count);
    return take(count, columns, activation_stride(capacity), activation_size(capacity, columns));
  }
  Matrix columns(int rows, int count) {
    return take(rows, count, weight_stride(rows), weight_size(rows, count));
  }
  float* rest() const { return at_; }

 private:
  Matrix take(int rows, int columns, std::size_t stride, std::size_t size) {
    float* const mine = at_;
    at_ += size;
    return {mine, rows, columns, stride};
  }
  float* at_;
};

/// Scores of position t, of which `seen` are, become exponentials, zeros past them.
void exponentials(Matrix scores, int row, int seen, float scale, float& top, float& sum) {
  float* const z = row_of(scores, row);
  const std::size_t stride = scores.panel_stride;
  const F32 factor = broadcast(scale);
  each_vector(seen, [&](std::size_t p, int v, int) HWY_ATTR {
    float* at = z + p * stride + v * kLanes;
    store(load(at) * factor, at);
  });
  top = maximum_along(z, stride, seen);
  const F32 most = broadcast(top);
  sum = sum_along(seen, [&](F32 chain, std::size_t p, int v) HWY_ATTR {
    float* at = z + p * stride + v * kLanes;
    const F32 e = exp(load(at) - most);
    store(e, at);
    return chain + e;
  });
  for (int c = seen; c < scores.columns; ++c) scores.at(row, c) = 0;
}

void forward(const Attention& a, ConstMatrix qkv, Matrix norms, Matrix y, float* scratch) {
  const int positions = a.positions, size = a.head_size(y.columns);
  const float scale = Attention::scale(size);
  Desk desk(scratch);
  const Matrix q = desk.rows(positions, size), k = desk.rows(positions, size), v = desk.rows(positions, size);
  const Matrix kt = desk.columns(size, positions), o = desk.rows(kRows, size);
  const Matrix scores = desk.rows(kRows, positions);
  for (int first = 0; first < y.rows; first += positions) {
    for (int h = 0; h < a.heads; ++h) {
      const int column = h * size;
      gather(qkv, {first, column}, q);
      gather(qkv, {first, y.columns + column}, k);
      gather(qkv, {first, 2 * y.columns + column}, v);
      transpose(k, kt);
      for (int t0 = 0; t0 < positions; t0 += kRows) {
        const int rows = std::min(kRows, positions - t0), end = a.end(t0);
        const Matrix s{scores.data, rows, end, scores.panel_stride}, out = o.slice_rows(0, rows);
        product_table()->linear(q.slice_rows(t0, rows), slice_columns(kt, 0, end), nullptr,
                                Activation::kLinear, s);
        float sums[kRows];
        for (int r = 0; r < rows; ++r) {
          float top = 0;
          exponentials(s, r, a.causal ? t0 + r + 1 : end, scale, top, sums[r]);
          norms.at(first + t0 + r, h) = top;
          norms.at(first + t0 + r, a.heads + h) = sums[r];
        }
        product_table()->linear(s, v.slice_rows(0, end), nullptr, Activation::kLinear, out);
        for (int r = 0; r < rows; ++r) {
          const F32 sum = broadcast(sums[r]);
          each_vector(size, [&](std::size_t p, int n, int) HWY_ATTR {
            float* at = row_of(out, r) + p * out.panel_stride + n * kLanes;
            store(load(at) / sum, at);
          });
        }
        scatter(out, 1, {first + t0, column}, y);
      }
    }
  }
}

/// The shares p of position t in the keys u0 .. u0 + columns - 1, and the gradients of their scores, in place
/// of scores and gradients of shares; zeros where `seen` ends.
void share_gradients(Matrix scores, Matrix shares, int row, int seen, float scale, float top, float sum,
                     float dot) {
  const F32 factor = broadcast(scale), most = broadcast(top), divisor = broadcast(sum), all = broadcast(dot);
  each_vector(scores.columns, [&](std::size_t p, int v, int) HWY_ATTR {
    float* z = row_of(scores, row) + p * scores.panel_stride + v * kLanes;
    float* g = row_of(shares, row) + p * shares.panel_stride + v * kLanes;
    const Mask there = first_lanes(seen - static_cast<int>(p) * kPanel - v * kLanes);
    const F32 share = exp(load(z) * factor - most) / divisor;
    store(select(there, share, zero()), z);
    store(select(there, share * (load(g) - all), zero()), g);
  });
}

void backward(const Attention& a, ConstMatrix qkv, ConstMatrix norms, ConstMatrix y, ConstMatrix dy,
              Matrix dqkv, float* scratch) {
  const int positions = a.positions, size = a.head_size(y.columns);
  const float scale = Attention::scale(size);
  Desk desk(scratch);
  const Matrix q = desk.rows(positions, size), k = desk.rows(positions, size), v = desk.rows(positions, size);
  const Matrix out = desk.rows(positions, size), g = desk.rows(positions, size),
               dq = desk.rows(positions, size);
  const Matrix kt = desk.columns(size, positions), vt = desk.columns(size, positions);
  const Matrix sums = desk.columns(kRows, size);
  const Matrix scores = desk.rows(positions, kRows), shares = desk.rows(positions, kRows);
  float* const dots = desk.rest();
  for (int first = 0; first < y.rows; first += positions) {
    for (int h = 0; h < a.heads; ++h) {
      const int column = h * size;
      const auto part = [&](int which) { return Part{first, which * y.columns + column}; };
      gather(qkv, part(0), q);
      gather(qkv, part(1), k);
      gather(qkv, part(2), v);
      gather(y, part(0), out);
      gather(dy, part(0), g);
      transpose(k, kt);
      transpose(v, vt);
      for (int t = 0; t < positions; ++t) {
        dots[t] = sum_along(size, [&](F32 chain, std::size_t p, int n) HWY_ATTR {
          return fma(load(row_of(g, t) + p * g.panel_stride + n * kLanes),
                     load(row_of(out, t) + p * out.panel_stride + n * kLanes), chain);
        });
      }
      for (int u0 = 0; u0 < positions; u0 += kRows) {
        const int width = std::min(kRows, positions - u0), t0 = a.begin(u0), rows = positions - t0;
        const Matrix s{scores.data, rows, width, scores.panel_stride},
            d{shares.data, rows, width, shares.panel_stride}, sum{sums.data, width, size, sums.panel_stride};
        product_table()->linear(q.slice_rows(t0, rows), slice_columns(kt, u0, width), nullptr,
                                Activation::kLinear, s);
        product_table()->linear(g.slice_rows(t0, rows), slice_columns(vt, u0, width), nullptr,
                                Activation::kLinear, d);
        for (int r = 0; r < rows; ++r) {
          const int t = t0 + r, seen = a.causal ? std::min(width, t + 1 - u0) : width;
          share_gradients(s, d, r, seen, scale, norms.at(first + t, h), norms.at(first + t, a.heads + h),
                          dots[t]);
        }
        gradient_table()->linear_backward_weights(s, g.slice_rows(t0, rows), rows, sum);
        scatter(sum, 1, {first + u0, 2 * y.columns + column}, dqkv);
        gradient_table()->linear_backward_weights(d, q.slice_rows(t0, rows), rows, sum);
        scatter(sum, scale, {first + u0, y.columns + column}, dqkv);
        const Matrix to = dq.slice_rows(t0, rows);
        if (u0 == 0) {
          product_table()->linear(d, k.slice_rows(0, width), nullptr, Activation::kLinear, to);
        } else {
          product_table()->linear_continue(d, k.slice_rows(u0, width), to);
        }
      }
      scatter(dq, scale, part(0), dqkv);
    }
  }
}

const AttentionTable kTable = {&forward, &backward};

}  // namespace

const AttentionTable* attention_table() {
  return &kTable;
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mirrorscale::kernels::cpu {
HWY_EXPORT(attention_table);
const AttentionTable* chosen_attention_table() {
  return HWY_DYNAMIC_DISPATCH(attention_table)();
}
}  // namespace mirrorscale::kernels::cpu
#endif

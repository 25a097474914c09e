#pragma once
#include "kernels/attention.h"
#include "kernels/exact/scalar.h"
#include "kernels/matrix.h"
#include "kernels/reference/sums.h"

#include <cstddef>
#include <limits>

/// Attention of backend.h as plain loops over a number type, as reference/ops.h.
namespace mirrorscale::kernels::reference {

/// One head of one sample: what its queries, keys and values, the outputs and the norms are.
template <class T>
struct Head {
  Attention a;
  BasicMatrix<const T> qkv;
  int first_row, number, size;

  T query(int t, int d) const { return at(t, 0, d); }
  T key(int t, int d) const { return at(t, 1, d); }
  T value(int t, int d) const { return at(t, 2, d); }
  int row(int t) const { return first_row + t; }
  int column(int d) const { return number * size + d; }
  /// Of a gradient: part 0 queries, 1 keys, 2 values.
  int column(int part, int d) const { return part * a.heads * size + column(d); }
  bool seen(int t, int u) const { return !a.causal || u <= t; }
  T scale() const {
    if constexpr (sizeof(T) == sizeof(float)) return Attention::scale(size);
    return 1 / number::root(static_cast<T>(size));
  }
  T score(int t, int u) const {
    T sum = 0;
    for (int d = 0; d < size; ++d) sum = number::fma(query(t, d), key(u, d), sum);
    return sum * scale();
  }

 private:
  T at(int t, int part, int d) const { return qkv.at(row(t), column(part, d)); }
};

template <class T, class Body>
void each_head(const Attention& a, BasicMatrix<const T> qkv, int columns, const Body& body) {
  for (int first = 0; first < qkv.rows; first += a.positions) {
    for (int h = 0; h < a.heads; ++h) body(Head<T>{a, qkv, first, h, a.head_size(columns)});
  }
}

template <class T>
void attention(const Attention& a, BasicMatrix<const T> qkv, BasicMatrix<T> norms, BasicMatrix<T> y) {
  each_head<T>(a, qkv, y.columns, [&](const Head<T>& head) {
    for (int t = 0; t < a.positions; ++t) {
      const int end = a.end(t), last = a.causal ? t + 1 : a.positions;
      T top = -std::numeric_limits<T>::infinity();
      for (int u = 0; u < last; ++u) {
        const T z = head.score(t, u);
        top = top < z ? z : top;
      }
      const auto exponential = [&](int u) {
        return head.seen(t, u) ? exact::exp(head.score(t, u) - top) : T(0);
      };
      const T sum = chain_sum<T>(static_cast<std::size_t>(last), [&](T so_far, std::size_t u) {
        return so_far + exponential(static_cast<int>(u));
      });
      norms.at(head.row(t), head.number) = top;
      norms.at(head.row(t), a.heads + head.number) = sum;
      for (int d = 0; d < head.size; ++d) {
        T chain = 0;
        for (int u = 0; u < end; ++u) chain = number::fma(exponential(u), head.value(u, d), chain);
        y.at(head.row(t), head.column(d)) = chain / sum;
      }
    }
  });
}

template <class T>
void attention_backward(const Attention& a, BasicMatrix<const T> qkv, BasicMatrix<const T> norms,
                        BasicMatrix<const T> y, BasicMatrix<const T> dy, BasicMatrix<T> dqkv) {
  each_head<T>(a, qkv, y.columns, [&](const Head<T>& head) {
    const auto share = [&](int t, int u) {
      if (!head.seen(t, u)) return T(0);
      return exact::exp(head.score(t, u) - norms.at(head.row(t), head.number)) /
             norms.at(head.row(t), a.heads + head.number);
    };
    const auto of_score = [&](int t, int u) {
      if (!head.seen(t, u)) return T(0);
      T sum = 0;
      for (int d = 0; d < head.size; ++d)
        sum = number::fma(dy.at(head.row(t), head.column(d)), head.value(u, d), sum);
      const T dot = chain_sum<T>(static_cast<std::size_t>(head.size), [&](T so_far, std::size_t d) {
        const int c = head.column(static_cast<int>(d));
        return number::fma(dy.at(head.row(t), c), y.at(head.row(t), c), so_far);
      });
      return share(t, u) * (sum - dot);
    };
    for (int t = 0; t < a.positions; ++t) {
      for (int d = 0; d < head.size; ++d) {
        T query = 0, key = 0, value = 0;
        for (int u = 0; u < a.end(t); ++u) query = number::fma(of_score(t, u), head.key(u, d), query);
        for (int s = a.begin(t); s < a.positions; ++s) {
          key = number::fma(of_score(s, t), head.query(s, d), key);
          value = number::fma(share(s, t), dy.at(head.row(s), head.column(d)), value);
        }
        dqkv.at(head.row(t), head.column(0, d)) = query * head.scale();
        dqkv.at(head.row(t), head.column(1, d)) = key * head.scale();
        dqkv.at(head.row(t), head.column(2, d)) = value;
      }
    }
  });
}

}  // namespace mirrorscale::kernels::reference

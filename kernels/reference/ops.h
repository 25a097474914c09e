#pragma once
#include "kernels/exact/scalar.h"
#include "kernels/matrix.h"
#include "kernels/reference/sums.h"

#include <algorithm>
#include <cstddef>
#include <limits>

/// The meaning of the ops of backend.h that work on matrices, as plain loops over a number type: in float
/// also their very bits, in double the arithmetic of gradient checks. Losses and metrics: reference/losses.h.
namespace mirrorscale::kernels::reference {

template <class T>
T apply(Activation f, T z) {
  T y{};
  exact::with_activation(f, [&](auto kind) { y = exact::activated<kind()>(z); });
  return y;
}
template <class T>
T apply_derivative(Activation f, T dy, T saved) {
  T dz{};
  exact::with_activation(f, [&](auto kind) { dz = exact::times_derivative<kind()>(dy, saved); });
  return dz;
}

template <class T>
void linear(BasicMatrix<const T> x, BasicMatrix<const T> w, const T* b, Activation f, BasicMatrix<T> y) {
  for (int r = 0; r < y.rows; ++r) {
    for (int c = 0; c < y.columns; ++c) {
      T sum = 0;
      for (int k = 0; k < x.columns; ++k) sum = number::fma(x.at(r, k), w.at(k, c), sum);
      y.at(r, c) = apply(f, b == nullptr ? sum : sum + b[c]);
    }
  }
}

template <class T>
void linear_backward_input(BasicMatrix<const T> dy, BasicMatrix<const T> wt, Activation f,
                           BasicMatrix<const T> saved, BasicMatrix<T> dx) {
  for (int r = 0; r < dx.rows; ++r) {
    for (int c = 0; c < dx.columns; ++c) {
      T sum = 0;
      for (int k = 0; k < dy.columns; ++k) sum = number::fma(dy.at(r, k), wt.at(k, c), sum);
      dx.at(r, c) = f == Activation::kLinear ? sum : apply_derivative(f, sum, saved.at(r, c));
    }
  }
}

template <class T>
void linear_backward_weights(BasicMatrix<const T> x, BasicMatrix<const T> dy, int shard_rows,
                             BasicMatrix<T> dw) {
  for (int c = 0; c < panels(dw.columns) * kPanel; ++c) {
    for (int i = 0; i < panels(dw.rows) * kPanel; ++i) {
      if (i >= dw.rows || c >= dw.columns) {
        dw.at(i, c) = 0;  // so that sums over an arena may run over the padding
        continue;
      }
      dw.at(i, c) = tree_sum<T>(x.rows, shard_rows, [&](int first, int count) {
        T sum = 0;
        for (int r = first; r < first + count; ++r) sum = number::fma(x.at(r, i), dy.at(r, c), sum);
        return sum;
      });
    }
  }
}

template <class T>
void sum_rows(BasicMatrix<const T> x, int shard_rows, T* sums) {
  for (int c = 0; c < panels(x.columns) * kPanel; ++c) {
    sums[c] = c >= x.columns ? T(0) : tree_sum<T>(x.rows, shard_rows, [&](int first, int count) {
      T sum = 0;
      for (int r = first; r < first + count; ++r) sum = sum + x.at(r, c);
      return sum;
    });
  }
}

template <class T>
void transpose(BasicMatrix<const T> w, BasicMatrix<T> wt, std::size_t first_block, std::size_t blocks) {
  const auto in = static_cast<std::size_t>(panels(w.rows));
  for (std::size_t block = first_block; block < first_block + blocks; ++block) {
    const int row = static_cast<int>(block % in) * kPanel, column = static_cast<int>(block / in) * kPanel;
    for (int r = row; r < row + kPanel; ++r) {
      for (int c = column; c < column + kPanel; ++c) wt.at(c, r) = w.at(r, c);
    }
  }
}

template <class T>
void activate(Activation f, BasicMatrix<const T> z, BasicMatrix<T> y) {
  for (int r = 0; r < y.rows; ++r) {
    for (int c = 0; c < y.columns; ++c) y.at(r, c) = apply(f, z.at(r, c));
  }
}
template <class T>
void activate_backward(Activation f, BasicMatrix<const T> saved, BasicMatrix<const T> dy, BasicMatrix<T> dz) {
  for (int r = 0; r < dz.rows; ++r) {
    for (int c = 0; c < dz.columns; ++c) {
      dz.at(r, c) = f == Activation::kLinear ? dy.at(r, c) : apply_derivative(f, dy.at(r, c), saved.at(r, c));
    }
  }
}

/// The largest element of a row; NaN are passed over.
template <class T>
T row_maximum(BasicMatrix<const T> z, int row) {
  T top = -std::numeric_limits<T>::infinity();
  for (int c = 0; c < z.columns; ++c) top = top < z.at(row, c) ? z.at(row, c) : top;
  return top;
}
/// Sum over the row of exp(z - top).
template <class T>
T exponential_sum(BasicMatrix<const T> z, int row, T top) {
  return chain_sum<T>(static_cast<std::size_t>(z.columns), [&](T sum, std::size_t c) {
    return sum + exact::exp(z.at(row, static_cast<int>(c)) - top);
  });
}

template <class T>
void softmax(BasicMatrix<const T> z, BasicMatrix<T> p) {
  for (int r = 0; r < p.rows; ++r) {
    const T top = row_maximum(z, r), sum = exponential_sum(z, r, top);
    for (int c = 0; c < p.columns; ++c) p.at(r, c) = exact::exp(z.at(r, c) - top) / sum;
  }
}
template <class T>
void softmax_backward(BasicMatrix<const T> p, BasicMatrix<const T> dy, BasicMatrix<T> dz) {
  for (int r = 0; r < dz.rows; ++r) {
    const T dot = chain_sum<T>(static_cast<std::size_t>(p.columns), [&](T sum, std::size_t c) {
      return number::fma(dy.at(r, static_cast<int>(c)), p.at(r, static_cast<int>(c)), sum);
    });
    for (int c = 0; c < dz.columns; ++c) dz.at(r, c) = p.at(r, c) * (dy.at(r, c) - dot);
  }
}

}  // namespace mirrorscale::kernels::reference

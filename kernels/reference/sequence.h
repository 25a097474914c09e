#pragma once
#include "kernels/dropout.h"
#include "kernels/exact/number.h"
#include "kernels/matrix.h"
#include "kernels/reference/sums.h"

#include <cstddef>

/// Ops of backend.h on rows of a sequence as plain loops over a number type, as reference/ops.h. Attention:
/// reference/attention.h.
namespace mirrorscale::kernels::reference {

template <class T>
void layer_norm(BasicMatrix<const T> x, const T* gamma, const T* beta, T epsilon, BasicMatrix<T> moments,
                BasicMatrix<T> y) {
  const auto columns = static_cast<T>(x.columns);
  const auto each = static_cast<std::size_t>(x.columns);
  for (int r = 0; r < x.rows; ++r) {
    const auto value = [&](std::size_t c) { return x.at(r, static_cast<int>(c)); };
    const T mean = chain_sum<T>(each, [&](T sum, std::size_t c) { return sum + value(c); }) / columns;
    const T variance = chain_sum<T>(each,
                                    [&](T sum, std::size_t c) {
                                      const T d = value(c) - mean;
                                      return number::fma(d, d, sum);
                                    }) /
                       columns;
    const T inverse = T(1) / number::root(variance + epsilon);
    moments.at(r, 0) = mean;
    moments.at(r, 1) = inverse;
    for (int c = 0; c < x.columns; ++c) {
      y.at(r, c) = number::fma((x.at(r, c) - mean) * inverse, gamma[c], beta[c]);
    }
  }
}

template <class T>
void layer_norm_backward(BasicMatrix<const T> x, BasicMatrix<const T> moments, const T* gamma,
                         BasicMatrix<const T> dy, BasicMatrix<T> scaled, BasicMatrix<T> dx) {
  const auto columns = static_cast<T>(x.columns);
  const auto each = static_cast<std::size_t>(x.columns);
  for (int r = 0; r < x.rows; ++r) {
    const T mean = moments.at(r, 0), inverse = moments.at(r, 1);
    const auto normalised = [&](int c) { return (x.at(r, c) - mean) * inverse; };
    const auto weighted = [&](int c) { return dy.at(r, c) * gamma[c]; };
    const T direct =
        chain_sum<T>(each, [&](T sum, std::size_t c) { return sum + weighted(static_cast<int>(c)); }) /
        columns;
    const T along = chain_sum<T>(each,
                                 [&](T sum, std::size_t c) {
                                   const auto i = static_cast<int>(c);
                                   return number::fma(weighted(i), normalised(i), sum);
                                 }) /
                    columns;
    for (int c = 0; c < x.columns; ++c) {
      const T h = normalised(c), g = weighted(c);
      scaled.at(r, c) = dy.at(r, c) * h;
      if (dx) dx.at(r, c) = inverse * (g - number::fma(h, along, direct));
    }
  }
}

template <class T>
void embed(BasicMatrix<const T> ids, BasicMatrix<const T> table, BasicMatrix<T> y) {
  for (int r = 0; r < y.rows; ++r) {
    const auto id = static_cast<int>(ids.at(r / ids.columns, r % ids.columns));
    for (int c = 0; c < y.columns; ++c) y.at(r, c) = table.at(id, c);
  }
}

template <class T>
void embed_backward(BasicMatrix<const T> ids, BasicMatrix<const T> dy, int shard_samples,
                    BasicMatrix<T> dtable) {
  for (int v = 0; v < panels(dtable.rows) * kPanel; ++v) {
    for (int c = 0; c < panels(dtable.columns) * kPanel; ++c) {
      dtable.at(v, c) = v >= dtable.rows || c >= dtable.columns
                            ? T(0)
                            : tree_sum<T>(ids.rows, shard_samples, [&](int first, int count) {
                                T sum = 0;
                                for (int r = first * ids.columns; r < (first + count) * ids.columns; ++r) {
                                  if (static_cast<int>(ids.at(r / ids.columns, r % ids.columns)) == v)
                                    sum = sum + dy.at(r, c);
                                }
                                return sum;
                              });
    }
  }
}

template <class T>
void add_positions(BasicMatrix<const T> x, BasicMatrix<const T> table, BasicMatrix<T> y) {
  for (int r = 0; r < y.rows; ++r) {
    for (int c = 0; c < y.columns; ++c) y.at(r, c) = x.at(r, c) + table.at(r % table.rows, c);
  }
}

template <class T>
void sum_positions(BasicMatrix<const T> dy, int shard_samples, BasicMatrix<T> dtable) {
  const int positions = dtable.rows;
  for (int t = 0; t < panels(positions) * kPanel; ++t) {
    for (int c = 0; c < panels(dtable.columns) * kPanel; ++c) {
      dtable.at(t, c) = t >= positions || c >= dtable.columns
                            ? T(0)
                            : tree_sum<T>(dy.rows / positions, shard_samples, [&](int first, int count) {
                                T sum = 0;
                                for (int s = first; s < first + count; ++s)
                                  sum = sum + dy.at(s * positions + t, c);
                                return sum;
                              });
    }
  }
}

template <class T>
void dropout(const Dropout& d, BasicMatrix<const T> x, BasicMatrix<T> y) {
  const auto factor = static_cast<T>(d.factor());
  for (int r = 0; r < y.rows; ++r) {
    const std::int64_t sample = d.first_sample + r / d.positions;
    for (int c = 0; c < y.columns; ++c) {
      const auto words = Dropout::words(d.key, sample, r % d.positions, c / 64, c % kPanel);
      const bool kept = !(to_unit_float(words[static_cast<std::size_t>(c / kPanel % 4)]) < d.rate);
      y.at(r, c) = kept ? x.at(r, c) * factor : T(0);
    }
  }
}

}  // namespace mirrorscale::kernels::reference

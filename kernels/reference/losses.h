#pragma once
#include "kernels/exact/scalar.h"
#include "kernels/matrix.h"
#include "kernels/reference/ops.h"

#include <cstddef>

/// Losses and metrics of backend.h as plain loops over a number type, as reference/ops.h.
namespace mirrorscale::kernels::reference {

/// One number per row.
template <class T>
struct BasicColumn {
  T* data = nullptr;
  std::size_t stride = kPanel;
  T& operator[](int row) const { return data[static_cast<std::size_t>(row) * stride]; }
  explicit operator bool() const { return data != nullptr; }
};

template <class T>
T weight_of(const T* weights, int row) {
  return weights == nullptr ? T(1) : weights[row];
}

template <class T>
void softmax_cross_entropy(BasicMatrix<const T> logits, const int* labels, const T* weights,
                           BasicMatrix<T> gradient, BasicColumn<T> loss) {
  for (int r = 0; r < logits.rows; ++r) {
    const T top = row_maximum(logits, r), sum = exponential_sum(logits, r, top),
            weight = weight_of(weights, r);
    const T label = logits.at(r, labels[r]);
    for (int c = 0; gradient && c < logits.columns; ++c) {
      const T p = exact::exp(logits.at(r, c) - top) / sum;
      gradient.at(r, c) = (c == labels[r] ? p - T(1) : p) * weight;
    }
    if (loss) loss[r] = weight * (exact::log(sum) - (label - top));
  }
}

template <class T>
void sparse_cross_entropy(BasicMatrix<const T> probabilities, const int* labels, const T* weights,
                          BasicMatrix<T> gradient, BasicColumn<T> loss) {
  for (int r = 0; r < probabilities.rows; ++r) {
    const auto [q, inside] = exact::clamp_probability(probabilities.at(r, labels[r]));
    const T weight = weight_of(weights, r);
    if (gradient) {
      for (int c = 0; c < gradient.columns; ++c) gradient.at(r, c) = 0;
      if (inside > T(0)) gradient.at(r, labels[r]) = (T(0) - weight) / q;
    }
    if (loss) loss[r] = weight * (T(0) - exact::log(q));
  }
}

/// Losses that are a mean over columns of element(prediction, target), with a factor for their gradient.
/// `add` is how an element joins its chain.
template <class T, class Add, class Gradient>
void mean_loss(BasicMatrix<const T> prediction, BasicMatrix<const T> target, const T* weights, T factor,
               const Add& add, const Gradient& gradient_of, BasicMatrix<T> gradient, BasicColumn<T> loss) {
  const auto columns = static_cast<T>(prediction.columns);
  for (int r = 0; r < prediction.rows; ++r) {
    const T weight = weight_of(weights, r), scale = (factor / columns) * weight;
    const T sum = chain_sum<T>(static_cast<std::size_t>(prediction.columns), [&](T so_far, std::size_t c) {
      return add(so_far, prediction.at(r, static_cast<int>(c)), target.at(r, static_cast<int>(c)));
    });
    for (int c = 0; gradient && c < prediction.columns; ++c) {
      gradient.at(r, c) = gradient_of(prediction.at(r, c), target.at(r, c), scale);
    }
    if (loss) loss[r] = weight * (sum / columns);
  }
}

template <class T>
void mean_squared_error(BasicMatrix<const T> prediction, BasicMatrix<const T> target, const T* weights,
                        BasicMatrix<T> gradient, BasicColumn<T> loss) {
  mean_loss<T>(
      prediction, target, weights, T(2), [](T sum, T p, T t) { return number::fma(p - t, p - t, sum); },
      [](T p, T t, T scale) { return (p - t) * scale; }, gradient, loss);
}

template <class T>
void mean_absolute_error(BasicMatrix<const T> prediction, BasicMatrix<const T> target, const T* weights,
                         BasicMatrix<T> gradient, BasicColumn<T> loss) {
  mean_loss<T>(
      prediction, target, weights, T(1), [](T sum, T p, T t) { return sum + number::magnitude(p - t); },
      [](T p, T t, T scale) { return exact::with_sign_of(scale, p - t); }, gradient, loss);
}

template <class T>
void binary_cross_entropy_from_logits(BasicMatrix<const T> logits, BasicMatrix<const T> target,
                                      const T* weights, BasicMatrix<T> gradient, BasicColumn<T> loss) {
  mean_loss<T>(
      logits, target, weights, T(1),
      [](T sum, T z, T t) { return sum + exact::binary_cross_entropy_of_logit(z, t).loss; },
      [](T z, T t, T scale) { return exact::binary_cross_entropy_of_logit(z, t).gradient * scale; }, gradient,
      loss);
}

template <class T>
void binary_cross_entropy(BasicMatrix<const T> probabilities, BasicMatrix<const T> target, const T* weights,
                          BasicMatrix<T> gradient, BasicColumn<T> loss) {
  mean_loss<T>(
      probabilities, target, weights, T(1),
      [](T sum, T p, T t) { return sum + exact::binary_cross_entropy_of_probability(p, t).loss; },
      [](T p, T t, T scale) { return exact::binary_cross_entropy_of_probability(p, t).gradient * scale; },
      gradient, loss);
}

/// A row with a NaN at the label never hits; other NaN are passed over.
template <class T>
void sparse_hits(BasicMatrix<const T> scores, const int* labels, const T* weights, BasicColumn<T> hits) {
  for (int r = 0; r < scores.rows; ++r) {
    const T top = row_maximum(scores, r);
    int first = 0;
    while (first < scores.columns && !(scores.at(r, first) == top)) ++first;
    hits[r] = weight_of(weights, r) * (first == labels[r] ? T(1) : T(0));
  }
}

template <class T>
void binary_hits(BasicMatrix<const T> prediction, BasicMatrix<const T> target, T threshold, const T* weights,
                 BasicColumn<T> hits) {
  for (int r = 0; r < prediction.rows; ++r) {
    int count = 0;
    for (int c = 0; c < prediction.columns; ++c) {
      count += (prediction.at(r, c) > threshold) == (target.at(r, c) > T(0.5));
    }
    hits[r] = weight_of(weights, r) * (static_cast<T>(count) / static_cast<T>(prediction.columns));
  }
}

}  // namespace mirrorscale::kernels::reference

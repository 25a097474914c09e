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

/// What a row is with label smoothing: `label` at its label, `other` at the other classes.
template <class T>
struct SmoothedLabel {
  SmoothedLabel(T smoothing, int classes)
      : own(T(1) - smoothing), other(smoothing / static_cast<T>(classes)), label(own + other) {}
  T own, other, label;
};

template <class T>
void softmax_cross_entropy(BasicMatrix<const T> logits, const int* labels, const T* weights, T smoothing,
                           BasicMatrix<T> gradient, BasicColumn<T> loss) {
  const SmoothedLabel<T> is(smoothing, logits.columns);
  for (int r = 0; r < logits.rows; ++r) {
    const T top = row_maximum(logits, r), sum = exponential_sum(logits, r, top),
            weight = weight_of(weights, r);
    T score = logits.at(r, labels[r]) - top;
    if (smoothing > T(0)) {
      score = is.own * score +
              is.other * chain_sum<T>(static_cast<std::size_t>(logits.columns), [&](T all, std::size_t c) {
                return all + (logits.at(r, static_cast<int>(c)) - top);
              });
    }
    for (int c = 0; gradient && c < logits.columns; ++c) {
      const T p = exact::exp(logits.at(r, c) - top) / sum;
      gradient.at(r, c) = (p - (c == labels[r] ? is.label : is.other)) * weight;
    }
    if (loss) loss[r] = weight * (exact::log(sum) - score);
  }
}

template <class T>
void sparse_cross_entropy(BasicMatrix<const T> probabilities, const int* labels, const T* weights,
                          T smoothing, BasicMatrix<T> gradient, BasicColumn<T> loss) {
  const SmoothedLabel<T> is(smoothing, probabilities.columns);
  for (int r = 0; r < probabilities.rows; ++r) {
    T score = exact::log(exact::clamp_probability(probabilities.at(r, labels[r])).value);
    if (smoothing > T(0)) {
      score =
          is.own * score +
          is.other * chain_sum<T>(static_cast<std::size_t>(probabilities.columns), [&](T all, std::size_t c) {
            const auto q = exact::clamp_probability(probabilities.at(r, static_cast<int>(c)));
            return all + exact::log(q.value);
          });
    }
    const T weight = weight_of(weights, r);
    for (int c = 0; gradient && c < gradient.columns; ++c) {
      const auto [q, inside] = exact::clamp_probability(probabilities.at(r, c));
      const T t = c == labels[r] ? is.label : is.other;
      gradient.at(r, c) = inside > T(0) && t > T(0) ? (T(0) - t * weight) / q : T(0);
    }
    if (loss) loss[r] = weight * (T(0) - score);
  }
}

/// A binary target with label smoothing.
template <class T>
T smoothed(T target, T smoothing) {
  return target * (T(1) - smoothing) + T(0.5) * smoothing;
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
                                      const T* weights, T smoothing, BasicMatrix<T> gradient,
                                      BasicColumn<T> loss) {
  mean_loss<T>(
      logits, target, weights, T(1),
      [smoothing](T sum, T z, T t) {
        return sum + exact::binary_cross_entropy_of_logit(z, smoothed(t, smoothing)).loss;
      },
      [smoothing](T z, T t, T scale) {
        return exact::binary_cross_entropy_of_logit(z, smoothed(t, smoothing)).gradient * scale;
      },
      gradient, loss);
}

template <class T>
void binary_cross_entropy(BasicMatrix<const T> probabilities, BasicMatrix<const T> target, const T* weights,
                          T smoothing, BasicMatrix<T> gradient, BasicColumn<T> loss) {
  mean_loss<T>(
      probabilities, target, weights, T(1),
      [smoothing](T sum, T p, T t) {
        return sum + exact::binary_cross_entropy_of_probability(p, smoothed(t, smoothing)).loss;
      },
      [smoothing](T p, T t, T scale) {
        return exact::binary_cross_entropy_of_probability(p, smoothed(t, smoothing)).gradient * scale;
      },
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

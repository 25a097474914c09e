#pragma once
#include "kernels/exact/scalar.h"
#include "kernels/reference/sums.h"

#include <cstddef>

/// Flat arenas as plain loops over a number type, as reference/ops.h.
namespace mirrorscale::kernels::reference {

template <class T>
void sgd(std::size_t count, const Sgd& step, const T* gradient, T* w, T* m) {
  for (std::size_t i = 0; i < count; ++i) {
    if (step.momentum == 0) {
      T unused = 0;
      exact::sgd_step<exact::Momentum::kNone>(step, gradient[i], w[i], unused);
    } else if (step.nesterov) {
      exact::sgd_step<exact::Momentum::kNesterov>(step, gradient[i], w[i], m[i]);
    } else {
      exact::sgd_step<exact::Momentum::kPlain>(step, gradient[i], w[i], m[i]);
    }
  }
}

template <class T>
void adam(std::size_t count, const Adam& step, const T* gradient, T* w, T* m, T* v) {
  for (std::size_t i = 0; i < count; ++i) exact::adam_step(step, gradient[i], w[i], m[i], v[i]);
}

template <class T>
T sum_of_squares(std::size_t count, const T* w) {
  return chain_sum<T>(count, [w](T sum, std::size_t c) { return number::fma(w[c], w[c], sum); });
}
template <class T>
T sum_of_magnitudes(std::size_t count, const T* w) {
  return chain_sum<T>(count, [w](T sum, std::size_t c) { return sum + number::magnitude(w[c]); });
}

}  // namespace mirrorscale::kernels::reference

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
void amsgrad(std::size_t count, const Adam& step, const T* gradient, T* w, T* m, T* v, T* largest) {
  for (std::size_t i = 0; i < count; ++i)
    exact::amsgrad_step(step, gradient[i], w[i], m[i], v[i], largest[i]);
}

template <class T>
void rms_prop(std::size_t count, const RmsProp& step, const T* gradient, T* w, T* v, T* a, T* m) {
  for (std::size_t i = 0; i < count; ++i) {
    T unused = 0;
    T& mean = a != nullptr ? a[i] : unused;
    T& moment = m != nullptr ? m[i] : unused;
    if (a != nullptr && m != nullptr)
      exact::rms_prop_step<true, true>(step, gradient[i], w[i], v[i], mean, moment);
    if (a != nullptr && m == nullptr)
      exact::rms_prop_step<true, false>(step, gradient[i], w[i], v[i], mean, moment);
    if (a == nullptr && m != nullptr)
      exact::rms_prop_step<false, true>(step, gradient[i], w[i], v[i], mean, moment);
    if (a == nullptr && m == nullptr)
      exact::rms_prop_step<false, false>(step, gradient[i], w[i], v[i], mean, moment);
  }
}

template <class T>
void adagrad(std::size_t count, const Adagrad& step, const T* gradient, T* w, T* a) {
  for (std::size_t i = 0; i < count; ++i) exact::adagrad_step(step, gradient[i], w[i], a[i]);
}

template <class T>
void lamb_direction(std::size_t count, const Lamb& step, const T* gradient, const T* w, T* m, T* v, T* u) {
  for (std::size_t i = 0; i < count; ++i) u[i] = exact::lamb_direction(step, gradient[i], w[i], m[i], v[i]);
}

template <class T>
void average(std::size_t count, float one_minus_momentum, const T* w, T* a) {
  for (std::size_t i = 0; i < count; ++i) a[i] = exact::moved_average(one_minus_momentum, w[i], a[i]);
}

template <class T>
void effective_gradient(std::size_t count, const GradientTerms& terms, float most, const T* sum, const T* w,
                        T* g) {
  for (std::size_t i = 0; i < count; ++i) g[i] = exact::limited_gradient(terms, most, sum[i], w[i]);
}

inline void squares_of_blocks(ConstMatrix w, std::size_t first_block, std::size_t blocks, float* squares) {
  const auto in = static_cast<std::size_t>(panels(w.rows));
  for (std::size_t b = 0; b < blocks; ++b) {
    const auto row = static_cast<int>((first_block + b) % in) * kPanel,
               column = static_cast<int>((first_block + b) / in) * kPanel;
    std::array<float, kPanel> chains{};
    for (int r = 0; r < kPanel; ++r) {
      for (int c = 0; c < kPanel; ++c) {
        const float x = w.at(row + r, column + c);
        chains[static_cast<std::size_t>(c)] = number::fma(x, x, chains[static_cast<std::size_t>(c)]);
      }
    }
    squares[b] = join(chains, [](float a, float b2) { return a + b2; });
  }
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

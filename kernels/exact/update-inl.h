// Optimizer steps, as templates over a number type (kernels/update.h says what they mean). Included like
// elementary-inl.h (no guard, inside a namespace).

/// The gradient that a step uses, from the gradient sum and the weight.
template <class F>
MIRRORSCALE_HD F effective_gradient(const GradientTerms& terms, F sum, F w) {
  using namespace number;
  using N = Number<F>;
  F g = N::of(terms.scale) * sum;
  if (terms.l2 != 0) g = fma(N::of(2.0F * terms.l2), w, g);
  if (terms.l1 != 0) {
    const F zero = N::of(0.0), l1 = N::of(terms.l1);
    g = g + select(less(zero, w), l1, select(less(w, zero), zero - l1, zero));
  }
  return g;
}

enum class Momentum { kNone, kPlain, kNesterov };

template <Momentum kMomentum, class F>
MIRRORSCALE_HD void sgd_step(const Sgd& step, F sum, F& w, F& m) {
  using namespace number;
  using N = Number<F>;
  const F g = effective_gradient(step.terms, sum, w), rate = N::of(step.rate);
  if constexpr (kMomentum == Momentum::kNone) {
    w = negated_fma(rate, g, w);
  } else {
    const F momentum = N::of(step.momentum), pull = N::of(-1.0) * (rate * g);
    m = fma(momentum, m, pull);
    w = w + (kMomentum == Momentum::kNesterov ? fma(momentum, m, pull) : m);
  }
}

template <class F>
MIRRORSCALE_HD void adam_step(const Adam& step, F sum, F& w, F& m, F& v) {
  using namespace number;
  using N = Number<F>;
  const F g = effective_gradient(step.terms, sum, w);
  if (step.decay != 0) w = negated_fma(N::of(step.decay), w, w);
  m = fma(g - m, N::of(step.one_minus_beta1), m);
  v = fma(g * g - v, N::of(step.one_minus_beta2), v);
  w = w - (N::of(step.step_rate) * m) / (root(v) + N::of(step.epsilon));
}

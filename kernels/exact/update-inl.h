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
  if (step.decay != 0) w = negated_fma(N::of(step.decay), w, w);
  if constexpr (kMomentum == Momentum::kNone) {
    w = negated_fma(rate, g, w);
  } else {
    const F momentum = N::of(step.momentum), pull = N::of(-1.0) * (rate * g);
    m = fma(momentum, m, pull);
    w = w + (kMomentum == Momentum::kNesterov ? fma(momentum, m, pull) : m);
  }
}

template <class F>
MIRRORSCALE_HD F largest_of(F a, F b) {
  using namespace number;
  return select(less(a, b), b, a);
}

/// The gradient that a step uses, each element within -most .. most; 0: not limited.
template <class F>
MIRRORSCALE_HD F limited_gradient(const GradientTerms& terms, float most, F sum, F w) {
  using namespace number;
  using N = Number<F>;
  const F g = effective_gradient(terms, sum, w);
  if (most == 0) return g;
  const F high = N::of(most), low = N::of(-most);
  return select(less(high, g), high, select(less(g, low), low, g));
}

template <class F>
MIRRORSCALE_HD void adam_moments(const Adam& step, F sum, F& w, F& m, F& v) {
  using namespace number;
  using N = Number<F>;
  const F g = effective_gradient(step.terms, sum, w);
  if (step.decay != 0) w = negated_fma(N::of(step.decay), w, w);
  m = fma(g - m, N::of(step.one_minus_beta1), m);
  v = fma(g * g - v, N::of(step.one_minus_beta2), v);
}

template <class F>
MIRRORSCALE_HD void amsgrad_step(const Adam& step, F sum, F& w, F& m, F& v, F& largest) {
  using namespace number;
  using N = Number<F>;
  adam_moments(step, sum, w, m, v);
  largest = largest_of(largest, v);
  w = w - (N::of(step.step_rate) * m) / (root(largest) + N::of(step.epsilon));
}

template <bool kCentred, bool kMomentum, class F>
MIRRORSCALE_HD void rms_prop_step(const RmsProp& step, F sum, F& w, F& v, F& a, F& m) {
  using namespace number;
  using N = Number<F>;
  const F g = effective_gradient(step.terms, sum, w), fresh = N::of(step.one_minus_rho);
  v = fma(g * g - v, fresh, v);
  F d = v;
  if constexpr (kCentred) {
    a = fma(g - a, fresh, a);
    d = largest_of(negated_fma(a, a, v), N::of(0.0));
  }
  const F p = (N::of(step.rate) * g) / root(d + N::of(step.epsilon));
  if constexpr (kMomentum) {
    m = fma(N::of(step.momentum), m, p);
    w = w - m;
  } else {
    w = w - p;
  }
}

template <class F>
MIRRORSCALE_HD void adagrad_step(const Adagrad& step, F sum, F& w, F& a) {
  using namespace number;
  using N = Number<F>;
  const F g = effective_gradient(step.terms, sum, w);
  a = fma(g, g, a);
  w = w - (N::of(step.rate) * g) / root(a + N::of(step.epsilon));
}

template <class F>
MIRRORSCALE_HD void adam_step(const Adam& step, F sum, F& w, F& m, F& v) {
  using namespace number;
  using N = Number<F>;
  adam_moments(step, sum, w, m, v);
  w = w - (N::of(step.step_rate) * m) / (root(v) + N::of(step.epsilon));
}

template <class F>
MIRRORSCALE_HD F lamb_direction(const Lamb& step, F sum, F w, F& m, F& v) {
  using namespace number;
  using N = Number<F>;
  const F g = effective_gradient(step.terms, sum, w);
  m = fma(g - m, N::of(step.one_minus_beta1), m);
  v = fma(g * g - v, N::of(step.one_minus_beta2), v);
  const F u = (N::of(step.mean_factor) * m) / (root(N::of(step.square_factor) * v) + N::of(step.epsilon));
  return step.weight_decay != 0 ? fma(N::of(step.weight_decay), w, u) : u;
}

template <class F>
MIRRORSCALE_HD F moved_average(float one_minus_momentum, F w, F a) {
  using namespace number;
  return fma(w - a, Number<F>::of(one_minus_momentum), a);
}

// Activations, their derivatives and the pieces of losses, as templates over a number type. Included like
// elementary-inl.h and after it (no guard, inside a namespace).

/// 0 where x < 0, else x: NaN and -0 stay.
template <class F>
MIRRORSCALE_HD F relu(F x) {
  using namespace number;
  const F zero = Number<F>::of(0.0);
  return select(less(x, zero), zero, x);
}

/// log(1 + e) for e >= 0, with the part of e that 1 + e loses.
template <class F>
MIRRORSCALE_HD F log_one_plus(F e) {
  using namespace number;
  const F one = Number<F>::of(1.0), u = one + e;
  return log(u) + (e - (u - one)) / u;
}

/// Stable on both sides: the exponent is never positive.
template <class F>
MIRRORSCALE_HD F sigmoid(F x) {
  using namespace number;
  const F one = Number<F>::of(1.0), e = exp(negative_magnitude(x));
  return select(less(x, Number<F>::of(0.0)), e, one) / (one + e);
}

/// The normal distribution function: (1 + erf(x / sqrt 2)) / 2.
template <class F>
MIRRORSCALE_HD F normal_cdf(F x) {
  using namespace number;
  using N = Number<F>;
  return N::of(0.5) * (N::of(1.0) + erf(x * N::of(0.70710678118654752)));
}

/// y = f(z).
template <Activation kFunction, class F>
MIRRORSCALE_HD F activated(F z) {
  if constexpr (kFunction == Activation::kRelu) return relu(z);
  if constexpr (kFunction == Activation::kTanh) return tanh(z);
  if constexpr (kFunction == Activation::kSigmoid) return sigmoid(z);
  if constexpr (kFunction == Activation::kGelu) return z * normal_cdf(z);
  return z;
}

/// dy * f'(saved): `saved` is y, or z where derivative_needs_input(f).
template <Activation kFunction, class F>
MIRRORSCALE_HD F times_derivative(F dy, F saved) {
  using namespace number;
  using N = Number<F>;
  if constexpr (kFunction == Activation::kRelu) return select(less(N::of(0.0), saved), dy, N::of(0.0));
  if constexpr (kFunction == Activation::kTanh) return dy * negated_fma(saved, saved, N::of(1.0));
  if constexpr (kFunction == Activation::kSigmoid) return dy * (saved * (N::of(1.0) - saved));
  if constexpr (kFunction == Activation::kGelu) {
    const F density = exp(N::of(-0.5) * (saved * saved));
    return dy * fma(saved * N::of(0.39894228040143268), density, normal_cdf(saved));
  }
  return dy;
}

/// A probability that log can take.
inline constexpr double kLeastProbability = 1e-7;
template <class F>
struct Clamped {
  F value, inside;  // inside: 1, or 0 where the clamp acts
};
template <class F>
MIRRORSCALE_HD Clamped<F> clamp_probability(F p) {
  using namespace number;
  using N = Number<F>;
  const F zero = N::of(0.0), low = N::of(kLeastProbability), high = N::of(1.0) - low;
  const auto below = less(p, low), above = less(high, p);
  return {select(below, low, select(above, high, p)), select(below, zero, select(above, zero, N::of(1.0)))};
}

template <class F>
struct LossAndGradient {
  F loss, gradient;
};
/// max(z, 0) - z t + log(1 + exp(-|z|)) and sigmoid(z) - t.
template <class F>
MIRRORSCALE_HD LossAndGradient<F> binary_cross_entropy_of_logit(F z, F t) {
  using namespace number;
  const F one = Number<F>::of(1.0), e = exp(negative_magnitude(z));
  const F s = select(less(z, Number<F>::of(0.0)), e, one) / (one + e);
  return {negated_fma(z, t, relu(z)) + log_one_plus(e), s - t};
}
/// -(t log q + (1 - t) log(1 - q)) and (q - t) / (q (1 - q)), q = p clamped; the gradient is 0 where it is.
template <class F>
MIRRORSCALE_HD LossAndGradient<F> binary_cross_entropy_of_probability(F p, F t) {
  using namespace number;
  const F zero = Number<F>::of(0.0), one = Number<F>::of(1.0);
  const auto [q, inside] = clamp_probability(p);
  const F r = one - q;
  const F loss = zero - fma(t, log(q), (one - t) * log(r));
  return {loss, select(less(zero, inside), (q - t) / (q * r), zero)};
}

/// 1, 0 or -1 times `size`; NaN gives NaN.
template <class F>
MIRRORSCALE_HD F with_sign_of(F size, F x) {
  using namespace number;
  const F zero = Number<F>::of(0.0);
  return select(less(zero, x), size, select(less(x, zero), zero - size, x));
}

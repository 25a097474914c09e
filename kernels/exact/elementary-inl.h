// exp, log, tanh, erf, once, as templates over a number type F: float (host or CUDA device) or a vector. Only
// the operations of number.h, in one written order: any IEEE machine gives the same bits if the compiler
// contracts nothing (-ffp-contract=off, --fmad=false) and flushes no denormals. Coefficients: our own fits
// (docs/exact.md).
//
// No include guard, no #include: this is included inside a namespace, once a number type. A template is
// compiled for the instruction set of the place where it is DEFINED, and a baseline function can't inline AVX
// operations.

template <class F>
MIRRORSCALE_HD F horner(F, F sum) {
  return sum;
}
template <class F, class... Rest>
MIRRORSCALE_HD F horner(F x, F sum, double next, Rest... rest) {
  using namespace number;
  return horner(x, fma(sum, x, Number<F>::of(next)), rest...);
}
/// ((c0 x + c1) x + c2) ...: highest power first.
template <class F, class... Rest>
MIRRORSCALE_HD F polynomial(F x, double first, Rest... rest) {
  return horner(x, number::Number<F>::of(first), rest...);
}

/// y, but one NaN for every NaN x: payloads differ between processors.
template <class F>
MIRRORSCALE_HD F keep_nan(F x, F y) {
  using namespace number;
  return select(is_nan(x), from_bits(Number<F>::of_int(0x7fc00000)), y);
}

template <class F>
MIRRORSCALE_HD F exp(F x) {
  using namespace number;
  using N = Number<F>;
  const F low = N::of(-104.0F), high = N::of(89.0F);
  F y = select(less(x, low), low, x);
  y = select(less(high, y), high, y);
  const F magic = N::of(12582912.0F);  // 1.5 * 2^23: adding it rounds to an integer
  const F t = fma(y, N::of(1.442695041F), magic);
  const F n = t - magic;
  F r = fma(n, N::of(-0.693359375F), y);  // ln 2 in two parts, the first exact times n
  r = fma(n, N::of(2.12194440e-4F), r);
  const F p =
      polynomial(r, 1.381446724e-03F, 8.368780836e-03F, 4.166839272e-02F, 1.666651964e-01F, 4.999999404e-01F);
  F e = fma(p, r * r, r) + N::of(1.0F);
  const auto i = bits(t) - bits(magic);
  const auto half = shift_right<1>(i);  // two factors: 2^i alone may not be a normal number
  e = e * from_bits(shift_left<23>(half + N::of_int(127)));
  e = e * from_bits(shift_left<23>(i - half + N::of_int(127)));
  return keep_nan(x, e);
}

template <class F>
MIRRORSCALE_HD F log(F x) {
  using namespace number;
  using N = Number<F>;
  const F zero = N::of(0.0F), one = N::of(1.0F), infinity = from_bits(N::of_int(0x7f800000));
  const auto positive = less(zero, x);
  const auto tiny = less(x, N::of(0x1p-126F));  // a denormal: scale by 2^23
  F y = select(positive, x, one);
  y = select(less(y, infinity), y, one);
  y = select(tiny, y * N::of(8388608.0F), y);
  const auto offset = N::of_int(0x3f3504f3);  // sqrt(1/2): mantissas in [sqrt 1/2, sqrt 2)
  const auto i = bits(y) - offset;
  const F e = to_float(shift_right<23>(i)) - select(tiny, N::of(23.0F), zero);
  const F f = from_bits((i & N::of_int(0x007fffff)) + offset) - one;
  const F f2 = f * f;
  const F p =
      polynomial(f, 6.746637821e-02F, -1.167565137e-01F, 1.188816279e-01F, -1.240558922e-01F,
                 1.421955228e-01F, -1.666799635e-01F, 2.000211924e-01F, -2.500000894e-01F, 3.333331347e-01F);
  F r = (f2 * f) * p;
  r = fma(e, N::of(-2.12194440e-4F), r);
  r = fma(N::of(-0.5F), f2, r);
  r = fma(e, N::of(0.693359375F), f + r);
  r = select(positive, r, select(less(x, zero), from_bits(N::of_int(0x7fc00000)), zero - infinity));
  r = select(less(x, infinity), r, infinity);
  return keep_nan(x, r);
}

template <class F>
MIRRORSCALE_HD F tanh(F x) {
  using namespace number;
  using N = Number<F>;
  const F t = magnitude(x), one = N::of(1.0F), s = t * t;
  const F p = polynomial(s, 2.142962301e-03F, -8.177398704e-03F, 2.170070261e-02F, -5.394676328e-02F,
                         1.333320588e-01F, -3.333333135e-01F);
  const F small = fma(p, s * t, t);
  const F capped = select(less(t, N::of(10.0F)), t, N::of(10.0F));
  const F large = one - N::of(2.0F) / (exp(capped + capped) + one);
  return keep_nan(x, with_sign(select(less(t, N::of(0.625F)), small, large), x));
}

template <class F>
MIRRORSCALE_HD F erf(F x) {
  using namespace number;
  using N = Number<F>;
  const F t = magnitude(x), s = t * t;
  const F p = polynomial(s, 8.316807362e-05F, -8.130021743e-04F, 5.199907813e-03F, -2.685894258e-02F,
                         1.128368750e-01F, -3.761263192e-01F, 1.283791661e-01F);
  const F small = fma(p, t, t);
  const F capped = select(less(t, N::of(4.0F)), t, N::of(4.0F));
  const F q = polynomial(capped, 1.123127549e-05F, -3.228035639e-04F, 3.642458003e-03F, -2.376206033e-02F,
                         1.062368751e-01F, 6.351513267e-01F, 1.286484897e-01F);
  const F large = N::of(1.0F) - exp(N::of(0.0F) - fma(q, capped, capped));
  return keep_nan(x, with_sign(select(less(t, N::of(0.93F)), small, large), x));
}

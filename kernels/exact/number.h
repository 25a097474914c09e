#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#if defined(__CUDACC__)
#define MIRRORSCALE_HD __host__ __device__ inline
#else
#define MIRRORSCALE_HD inline
#endif

/// The operations that element functions are made of, for the number types float and double. A vector type of
/// the cpu backend has the same list (cpu/lanes-inl.h). Each is exact by IEEE 754 or works on bits, so that
/// whoever does the same operations in the same order gets the same bits.
namespace mirrorscale::kernels::number {

/// F: a number type. of(): a constant, rounded to it; Int: integers of the same width and count.
template <class F>
struct Number;

template <>
struct Number<float> {
  using Int = std::int32_t;
  MIRRORSCALE_HD static float of(double x) { return static_cast<float>(x); }
  MIRRORSCALE_HD static Int of_int(std::int32_t x) { return x; }
};
template <>
struct Number<double> {
  MIRRORSCALE_HD static double of(double x) { return x; }
};

MIRRORSCALE_HD float fma(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}
MIRRORSCALE_HD double fma(double a, double b, double c) {
  return std::fma(a, b, c);
}

/// c - a b, rounded once.
template <class T>
MIRRORSCALE_HD T negated_fma(T a, T b, T c) {
  return fma(-a, b, c);
}

MIRRORSCALE_HD float root(float a) {
#if defined(__CUDA_ARCH__)
  return __fsqrt_rn(a);
#else
  return std::sqrt(a);
#endif
}
MIRRORSCALE_HD double root(double a) {
  return std::sqrt(a);
}

template <class T>
MIRRORSCALE_HD bool less(T a, T b) {
  return a < b;
}
template <class T>
MIRRORSCALE_HD bool is_nan(T a) {
  return a != a;
}
template <class T>
MIRRORSCALE_HD T select(bool condition, T a, T b) {
  return condition ? a : b;
}
MIRRORSCALE_HD bool both(bool a, bool b) {
  return a && b;
}

template <class T>
MIRRORSCALE_HD T magnitude(T a) {
  return std::fabs(a);
}
/// -|a|
template <class T>
MIRRORSCALE_HD T negative_magnitude(T a) {
  return -std::fabs(a);
}
/// |a| with the sign of b.
template <class T>
MIRRORSCALE_HD T with_sign(T a, T b) {
  return std::copysign(a, b);
}

MIRRORSCALE_HD std::int32_t bits(float a) {
#if defined(__CUDA_ARCH__)
  return __float_as_int(a);
#else
  return std::bit_cast<std::int32_t>(a);
#endif
}
MIRRORSCALE_HD float from_bits(std::int32_t i) {
#if defined(__CUDA_ARCH__)
  return __int_as_float(i);
#else
  return std::bit_cast<float>(i);
#endif
}
MIRRORSCALE_HD float to_float(std::int32_t i) {
  return static_cast<float>(i);
}
template <int kBits>
MIRRORSCALE_HD std::int32_t shift_left(std::int32_t i) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(i) << kBits);
}
template <int kBits>
MIRRORSCALE_HD std::int32_t shift_right(std::int32_t i) {  // arithmetic
  return i >> kBits;
}

}  // namespace mirrorscale::kernels::number

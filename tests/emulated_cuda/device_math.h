#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

/// Intrinsics. Those named _rn round once, to nearest even, and are never fused: the project compiles with
/// -ffp-contract=off. The fast ones (__expf …) are as exact here as their plain cousins.
using std::max;
using std::min;

inline float __fmaf_rn(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fsub_rn(float a, float b) {
  return a - b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fdiv_rn(float a, float b) {
  return a / b;
}
inline float __fsqrt_rn(float a) {
  return std::sqrt(a);
}
inline float __frcp_rn(float a) {
  return 1.0f / a;
}
inline float __frsqrt_rn(float a) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a)));
}
inline float __fdividef(float a, float b) {
  return a / b;
}
inline float __saturatef(float a) {
  return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f;
}
inline double __fma_rn(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dsub_rn(double a, double b) {
  return a - b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}
inline double __ddiv_rn(double a, double b) {
  return a / b;
}
inline double __dsqrt_rn(double a) {
  return std::sqrt(a);
}
inline float rsqrtf(float a) {
  return 1.0f / std::sqrt(a);
}
inline double rsqrt(double a) {
  return 1.0 / std::sqrt(a);
}

// glibc declares functions of these names and does not export them.
#define __expf(x) ::std::exp(static_cast<float>(x))
#define __exp10f(x) ::std::pow(10.0f, static_cast<float>(x))
#define __logf(x) ::std::log(static_cast<float>(x))
#define __log2f(x) ::std::log2(static_cast<float>(x))
#define __log10f(x) ::std::log10(static_cast<float>(x))
#define __sinf(x) ::std::sin(static_cast<float>(x))
#define __cosf(x) ::std::cos(static_cast<float>(x))
#define __tanf(x) ::std::tan(static_cast<float>(x))
#define __powf(x, y) ::std::pow(static_cast<float>(x), static_cast<float>(y))

inline int __float_as_int(float a) {
  return std::bit_cast<int>(a);
}
inline unsigned __float_as_uint(float a) {
  return std::bit_cast<unsigned>(a);
}
inline float __int_as_float(int a) {
  return std::bit_cast<float>(a);
}
inline float __uint_as_float(unsigned a) {
  return std::bit_cast<float>(a);
}
inline long long __double_as_longlong(double a) {
  return std::bit_cast<long long>(a);
}
inline double __longlong_as_double(long long a) {
  return std::bit_cast<double>(a);
}
inline float __double2float_rn(double a) {
  return static_cast<float>(a);
}
inline float __int2float_rn(int a) {
  return static_cast<float>(a);
}
inline float __uint2float_rn(unsigned a) {
  return static_cast<float>(a);
}
inline float __ull2float_rn(unsigned long long a) {
  return static_cast<float>(a);
}
inline double __uint2double_rn(unsigned a) {
  return a;
}
inline int __float2int_rn(float a) {
  return static_cast<int>(std::nearbyint(a));
}
inline int __float2int_rz(float a) {
  return static_cast<int>(a);
}
inline int __float2int_rd(float a) {
  return static_cast<int>(std::floor(a));
}

inline int __popc(unsigned a) {
  return std::popcount(a);
}
inline int __popcll(unsigned long long a) {
  return std::popcount(a);
}
inline int __clz(int a) {
  return std::countl_zero(static_cast<unsigned>(a));
}
inline int __clzll(long long a) {
  return std::countl_zero(static_cast<unsigned long long>(a));
}
inline int __ffs(int a) {
  return a == 0 ? 0 : std::countr_zero(static_cast<unsigned>(a)) + 1;
}
inline unsigned __brev(unsigned a) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (a >> bit & 1u) << (31 - bit);
  return reversed;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} * b) >> 32);
}
inline int __mulhi(int a, int b) {
  return static_cast<int>((std::int64_t{a} * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>((Wide{a} * b) >> 64);
}

// Caches are not modelled: hints read and write as usual.
template <class T>
T __ldg(const T* p) {
  return *p;
}
template <class T>
T __ldcs(const T* p) {
  return *p;
}
template <class T>
T __ldcg(const T* p) {
  return *p;
}
template <class T>
void __stcs(T* p, T value) {
  *p = value;
}
template <class T>
void __stcg(T* p, T value) {
  *p = value;
}

inline void __trap() {
  std::abort();
}
inline void __nanosleep(unsigned) {}

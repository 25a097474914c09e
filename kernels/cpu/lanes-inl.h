// The vector number type F32 of one instruction set: a thin wrap of Highway's vector with the operations of
// exact/number.h, and the element functions on it. Included once a target (hence no #pragma once).
#if defined(MIRRORSCALE_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MIRRORSCALE_LANES_INL_H
#undef MIRRORSCALE_LANES_INL_H
#else
#define MIRRORSCALE_LANES_INL_H
#endif

#include "kernels/activation.h"
#include "kernels/exact/scalar.h"
#include "kernels/matrix.h"
#include "kernels/update.h"

#include "hwy/highway.h"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

// The body of a loop over a constant number of registers.
#ifndef MIRRORSCALE_UNROLL
#define MIRRORSCALE_UNROLL _Pragma("GCC unroll 32")
#endif

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, kPanel>;
using IntTag = hn::RebindToSigned<Tag>;
inline constexpr int kLanes = static_cast<int>(HWY_MAX_BYTES >= 4 ? HWY_LANES(float) : 1);
inline constexpr int kVectors = kPanel / kLanes;  // to a row of a panel

// Highway's MulAdd multiplies, rounds, adds and rounds where the target has no FMA: such a target may only be
// the one-lane fallback, where we call std::fma ourselves.
static_assert(HWY_NATIVE_FMA || kLanes == 1, "disable this target: it has no fused multiply-add");

struct F32 {
  hn::Vec<Tag> v;
};
struct I32 {
  hn::Vec<IntTag> v;
};
struct Mask {
  hn::Mask<Tag> v;
};

HWY_INLINE F32 load(const float* p) {
  return {hn::Load(Tag(), p)};
}
HWY_INLINE void store(F32 a, float* p) {
  hn::Store(a.v, Tag(), p);
}
HWY_INLINE F32 broadcast(float x) {
  return {hn::Set(Tag(), x)};
}
HWY_INLINE F32 zero() {
  return {hn::Zero(Tag())};
}

HWY_INLINE F32 fma(F32 a, F32 b, F32 c) {
#if HWY_NATIVE_FMA
  return {hn::MulAdd(a.v, b.v, c.v)};
#else
  return {hn::Set(Tag(), std::fma(hn::GetLane(a.v), hn::GetLane(b.v), hn::GetLane(c.v)))};
#endif
}
/// c - a b, rounded once.
HWY_INLINE F32 negated_fma(F32 a, F32 b, F32 c) {
#if HWY_NATIVE_FMA
  return {hn::NegMulAdd(a.v, b.v, c.v)};
#else
  return {hn::Set(Tag(), std::fma(-hn::GetLane(a.v), hn::GetLane(b.v), hn::GetLane(c.v)))};
#endif
}
HWY_INLINE F32 operator+(F32 a, F32 b) {
  return {hn::Add(a.v, b.v)};
}
HWY_INLINE F32 operator-(F32 a, F32 b) {
  return {hn::Sub(a.v, b.v)};
}
HWY_INLINE F32 operator*(F32 a, F32 b) {
  return {hn::Mul(a.v, b.v)};
}
HWY_INLINE F32 operator/(F32 a, F32 b) {
  return {hn::Div(a.v, b.v)};
}
HWY_INLINE F32 root(F32 a) {
  return {hn::Sqrt(a.v)};
}
HWY_INLINE Mask less(F32 a, F32 b) {
  return {hn::Lt(a.v, b.v)};
}
HWY_INLINE Mask is_nan(F32 a) {
  return {hn::IsNaN(a.v)};
}  // not Ne(a, a): on x86 that is false for NaN
HWY_INLINE F32 select(Mask m, F32 a, F32 b) {
  return {hn::IfThenElse(m.v, a.v, b.v)};
}

HWY_INLINE I32 bits(F32 a) {
  return {hn::BitCast(IntTag(), a.v)};
}
HWY_INLINE F32 from_bits(I32 i) {
  return {hn::BitCast(Tag(), i.v)};
}
HWY_INLINE F32 to_float(I32 i) {
  return {hn::ConvertTo(Tag(), i.v)};
}
HWY_INLINE I32 operator+(I32 a, I32 b) {
  return {hn::Add(a.v, b.v)};
}
HWY_INLINE I32 operator-(I32 a, I32 b) {
  return {hn::Sub(a.v, b.v)};
}
HWY_INLINE I32 operator&(I32 a, I32 b) {
  return {hn::And(a.v, b.v)};
}
HWY_INLINE I32 operator|(I32 a, I32 b) {
  return {hn::Or(a.v, b.v)};
}
template <int kBits>
HWY_INLINE I32 shift_left(I32 i) {
  return {hn::ShiftLeft<kBits>(i.v)};
}
template <int kBits>
HWY_INLINE I32 shift_right(I32 i) {
  return {hn::ShiftRight<kBits>(i.v)};
}

HWY_INLINE I32 sign_bit() {
  return {hn::Set(IntTag(), INT32_MIN)};
}
HWY_INLINE F32 magnitude(F32 a) {
  return from_bits(bits(a) & I32{hn::Set(IntTag(), INT32_MAX)});
}
HWY_INLINE F32 negative_magnitude(F32 a) {
  return from_bits(bits(a) | sign_bit());
}
/// |a| with the sign of b.
HWY_INLINE F32 with_sign(F32 a, F32 b) {
  return from_bits(bits(magnitude(a)) | (bits(b) & sign_bit()));
}

/// The first `count` lanes; none if count <= 0.
HWY_INLINE Mask first_lanes(int count) {
  return {hn::FirstN(Tag(), static_cast<std::size_t>(std::clamp(count, 0, kLanes)))};
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE

namespace mirrorscale::kernels::number {
template <>
struct Number<cpu::HWY_NAMESPACE::F32> {
  using Int = cpu::HWY_NAMESPACE::I32;
  static HWY_INLINE cpu::HWY_NAMESPACE::F32 of(double x) {
    return cpu::HWY_NAMESPACE::broadcast(static_cast<float>(x));
  }
  static HWY_INLINE Int of_int(std::int32_t x) {
    return {hwy::HWY_NAMESPACE::Set(cpu::HWY_NAMESPACE::IntTag(), x)};
  }
};
}  // namespace mirrorscale::kernels::number

namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {

// Each needs the ones above it, so:
// clang-format off
#include "kernels/exact/elementary-inl.h"
#include "kernels/exact/activation-inl.h"
#include "kernels/exact/update-inl.h"
// clang-format on

/// 16 chains of a sum along a row, as the registers hold them.
struct Chains {
  F32 v[kVectors];
};
HWY_INLINE Chains same_chains(float x) {
  Chains c;
  MIRRORSCALE_UNROLL for (int i = 0; i < kVectors; ++i) c.v[i] = broadcast(x);
  return c;
}
/// The fixed tree over 16 values: j takes j + 8, then j + 4, j + 2, j + 1.
template <class Combine>
HWY_INLINE float join(const Chains& c, Combine combine) {
  alignas(64) float x[kPanel];
  for (int i = 0; i < kVectors; ++i) store(c.v[i], x + i * kLanes);
  for (int half = kPanel / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) x[j] = combine(x[j], x[j + half]);
  }
  return x[0];
}
HWY_INLINE float sum_of(const Chains& c) {
  return join(c, [](float a, float b) HWY_ATTR { return a + b; });
}
HWY_INLINE float maximum_of(const Chains& c) {
  return join(c, [](float a, float b) HWY_ATTR { return a < b ? b : a; });
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

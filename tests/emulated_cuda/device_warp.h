#pragma once

#include "emulated_cuda/executor.h"
#include <cstdint>
#include <cstring>
#include <type_traits>

/// Barriers, shuffles and votes. The last parameter is never given: it is where the call stands, for the
/// reports.
namespace mirrorscale::emulated_cuda {

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline unsigned lane_index() {
  return current_thread->linear % 32;
}

/// The value of lane `from`, or the caller's own where the shuffle reaches out of its segment or asks a lane
/// that takes no part (undefined on a real device, and visible here as an unchanged value).
template <class T>
T shuffle(unsigned mask, T value, unsigned from, bool inside, const Where& where) {
  const std::uint64_t* all = meet_warp(mask, to_bits(value), false, where);
  return inside && (mask >> (from % 32) & 1) != 0 ? from_bits<T>(all[from % 32]) : value;
}

template <class T, class Combine>
T reduce_warp(unsigned mask, T value, Combine combine, const Where& where) {
  const std::uint64_t* all = meet_warp(mask, to_bits(value), false, where);
  T result{};
  bool first = true;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) {
      const T other = from_bits<T>(all[lane]);
      result = first ? other : combine(result, other);
      first = false;
    }
  return result;
}

}  // namespace mirrorscale::emulated_cuda

inline void __syncthreads(
    const mirrorscale::emulated_cuda::Where& where = mirrorscale::emulated_cuda::Where::here()) {
  mirrorscale::emulated_cuda::meet_block(where);
}
inline void __syncwarp(unsigned mask = ~0u, const mirrorscale::emulated_cuda::Where& where =
                                                mirrorscale::emulated_cuda::Where::here()) {
  mirrorscale::emulated_cuda::meet_warp(mask, 0, true, where);
}
inline void __threadfence() {
  mirrorscale::emulated_cuda::fence();
}
inline void __threadfence_block() {
  mirrorscale::emulated_cuda::fence();
}
inline void __threadfence_system() {
  mirrorscale::emulated_cuda::fence();
}

template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32,
              const mirrorscale::emulated_cuda::Where& where = mirrorscale::emulated_cuda::Where::here()) {
  const unsigned size = static_cast<unsigned>(width), lane = mirrorscale::emulated_cuda::lane_index();
  const unsigned base = lane & ~(size - 1);
  return mirrorscale::emulated_cuda::shuffle(mask, value, base + (static_cast<unsigned>(from) & (size - 1)),
                                             true, where);
}

template <class T>
T __shfl_xor_sync(
    unsigned mask, T value, int lanes, int width = 32,
    const mirrorscale::emulated_cuda::Where& where = mirrorscale::emulated_cuda::Where::here()) {
  const unsigned size = static_cast<unsigned>(width), lane = mirrorscale::emulated_cuda::lane_index();
  const unsigned from = lane ^ static_cast<unsigned>(lanes), base = lane & ~(size - 1);
  return mirrorscale::emulated_cuda::shuffle(mask, value, from, from < base + size, where);
}

template <class T>
T __shfl_down_sync(
    unsigned mask, T value, unsigned delta, int width = 32,
    const mirrorscale::emulated_cuda::Where& where = mirrorscale::emulated_cuda::Where::here()) {
  const unsigned size = static_cast<unsigned>(width), lane = mirrorscale::emulated_cuda::lane_index();
  const unsigned base = lane & ~(size - 1);
  return mirrorscale::emulated_cuda::shuffle(mask, value, lane + delta, lane + delta < base + size, where);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 const mirrorscale::emulated_cuda::Where& where = mirrorscale::emulated_cuda::Where::here()) {
  const unsigned size = static_cast<unsigned>(width), lane = mirrorscale::emulated_cuda::lane_index();
  const unsigned base = lane & ~(size - 1);
  return mirrorscale::emulated_cuda::shuffle(mask, value, lane - delta, lane >= base + delta, where);
}

inline unsigned __ballot_sync(
    unsigned mask, int predicate,
    const mirrorscale::emulated_cuda::Where& where = mirrorscale::emulated_cuda::Where::here()) {
  const std::uint64_t* all = mirrorscale::emulated_cuda::meet_warp(mask, predicate != 0, false, where);
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) ballot |= static_cast<unsigned>(all[lane]) << lane;
  return ballot;
}
inline int __any_sync(
    unsigned mask, int predicate,
    const mirrorscale::emulated_cuda::Where& where = mirrorscale::emulated_cuda::Where::here()) {
  return __ballot_sync(mask, predicate, where) != 0;
}
inline int __all_sync(
    unsigned mask, int predicate,
    const mirrorscale::emulated_cuda::Where& where = mirrorscale::emulated_cuda::Where::here()) {
  return __ballot_sync(mask, predicate, where) == mask;
}

template <class T>
T __reduce_add_sync(
    unsigned mask, T value,
    const mirrorscale::emulated_cuda::Where& where = mirrorscale::emulated_cuda::Where::here()) {
  return mirrorscale::emulated_cuda::reduce_warp(
      mask, value, [](T a, T b) { return static_cast<T>(a + b); }, where);
}
template <class T>
T __reduce_max_sync(
    unsigned mask, T value,
    const mirrorscale::emulated_cuda::Where& where = mirrorscale::emulated_cuda::Where::here()) {
  return mirrorscale::emulated_cuda::reduce_warp(
      mask, value, [](T a, T b) { return a < b ? b : a; }, where);
}
template <class T>
T __reduce_min_sync(
    unsigned mask, T value,
    const mirrorscale::emulated_cuda::Where& where = mirrorscale::emulated_cuda::Where::here()) {
  return mirrorscale::emulated_cuda::reduce_warp(
      mask, value, [](T a, T b) { return b < a ? b : a; }, where);
}

inline int __syncthreads_count(int predicate, const mirrorscale::emulated_cuda::Where& where =
                                                  mirrorscale::emulated_cuda::Where::here()) {
  return mirrorscale::emulated_cuda::count_block(predicate != 0, where);
}
inline int __syncthreads_or(int predicate, const mirrorscale::emulated_cuda::Where& where =
                                               mirrorscale::emulated_cuda::Where::here()) {
  return mirrorscale::emulated_cuda::count_block(predicate != 0, where) != 0;
}
inline int __syncthreads_and(int predicate, const mirrorscale::emulated_cuda::Where& where =
                                                mirrorscale::emulated_cuda::Where::here()) {
  return mirrorscale::emulated_cuda::count_block(predicate == 0, where) == 0;
}

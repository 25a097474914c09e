#pragma once

#include <atomic>
#include <type_traits>

/// Atomics order nothing, as on the device; whoever hands data over with them needs __threadfence too.
namespace mirrorscale::emulated_cuda {

template <class T, class Change>
T exchange_atomically(T* at, Change change) {
  std::atomic_ref<T> target(*at);
  T old = target.load(std::memory_order_relaxed);
  while (!target.compare_exchange_weak(old, change(old), std::memory_order_relaxed)) {
  }
  return old;
}

}  // namespace mirrorscale::emulated_cuda

template <class T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  return mirrorscale::emulated_cuda::exchange_atomically(
      at, [value](T old) { return static_cast<T>(old + value); });
}
template <class T>
T atomicSub(T* at, std::type_identity_t<T> value) {
  return mirrorscale::emulated_cuda::exchange_atomically(
      at, [value](T old) { return static_cast<T>(old - value); });
}
template <class T>
T atomicMax(T* at, std::type_identity_t<T> value) {
  return mirrorscale::emulated_cuda::exchange_atomically(
      at, [value](T old) { return old < value ? value : old; });
}
template <class T>
T atomicMin(T* at, std::type_identity_t<T> value) {
  return mirrorscale::emulated_cuda::exchange_atomically(
      at, [value](T old) { return value < old ? value : old; });
}
template <class T>
T atomicAnd(T* at, std::type_identity_t<T> value) {
  return mirrorscale::emulated_cuda::exchange_atomically(at, [value](T old) { return old & value; });
}
template <class T>
T atomicOr(T* at, std::type_identity_t<T> value) {
  return mirrorscale::emulated_cuda::exchange_atomically(at, [value](T old) { return old | value; });
}
template <class T>
T atomicXor(T* at, std::type_identity_t<T> value) {
  return mirrorscale::emulated_cuda::exchange_atomically(at, [value](T old) { return old ^ value; });
}
template <class T>
T atomicExch(T* at, std::type_identity_t<T> value) {
  return mirrorscale::emulated_cuda::exchange_atomically(at, [value](T) { return value; });
}
template <class T>
T atomicCAS(T* at, std::type_identity_t<T> compare, std::type_identity_t<T> value) {
  return mirrorscale::emulated_cuda::exchange_atomically(
      at, [compare, value](T old) { return old == compare ? value : old; });
}
/// (old >= limit) ? 0 : old + 1, the one used to elect the last block of a grid.
inline unsigned atomicInc(unsigned* at, unsigned limit) {
  return mirrorscale::emulated_cuda::exchange_atomically(
      at, [limit](unsigned old) { return old >= limit ? 0u : old + 1; });
}

#pragma once
#include "harness/measure/interval.h"

namespace mirrorscale::harness {

/// Speed-up is throughput over the base's throughput; efficiency is speed-up * base replicas / replicas: the
/// fraction of what the added replicas could have given. The same holds for both ends of an interval on the
/// ratio.
inline double efficiency(double speedup, int replicas, int base_replicas = 1) {
  return speedup * base_replicas / replicas;
}
inline Interval efficiency(const Interval& speedup, int replicas, int base_replicas = 1) {
  return {efficiency(speedup.value, replicas, base_replicas),
          efficiency(speedup.low, replicas, base_replicas),
          efficiency(speedup.high, replicas, base_replicas)};
}
/// The base compared with itself.
inline constexpr Interval kUnity{1, 1, 1};

}  // namespace mirrorscale::harness

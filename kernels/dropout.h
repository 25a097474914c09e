#pragma once
#include "kernels/random.h"

#include <cstdint>

namespace mirrorscale::kernels {

/// Which elements a dropout layer zeroes in one step: keyed by the run's seed, the layer and the step, and
/// for each element by the number of its sample in the global batch and its place in the sample, so that it
/// doesn't depend on the number of replicas.
struct Dropout {
  float rate = 0;     // share of elements that become 0; the others are multiplied by 1 / (1 - rate)
  int positions = 1;  // rows of a sample
  std::int64_t first_sample = 0;  // of the first row
  PhiloxKey key = {};

  static Dropout of(float rate, int positions, std::uint64_t seed, std::uint32_t layer, std::int64_t step) {
    const auto words = random_words(seed, Purpose::kDropout, layer, static_cast<std::uint64_t>(step));
    return {rate, positions, 0, {words[0], words[1]}};
  }
  float factor() const { return 1.0F / (1.0F - rate); }
  /// Four words for columns 64 group + lane + 16 i, i = 0 .. 3, of a row: lane 0 .. 15.
  static constexpr PhiloxCounter words(PhiloxKey key, std::int64_t sample, int position, int group,
                                       int lane) {
    const auto s = static_cast<std::uint64_t>(sample);
    return philox({static_cast<std::uint32_t>(group * 16 + lane), static_cast<std::uint32_t>(position),
                   static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(s >> 32)},
                  key);
  }
};

}  // namespace mirrorscale::kernels

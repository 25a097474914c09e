#pragma once
#include <array>
#include <cstdint>

namespace mirrorscale::kernels {

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a
/// keyed bijection of a 128-bit counter. Random values are keyed by what they are for, never drawn from a
/// stream, so that they don't depend on the number of replicas.
using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

constexpr PhiloxCounter philox(PhiloxCounter c, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * c[0], b = std::uint64_t{0xCD9E8D57U} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return c;
}

/// What random numbers are drawn for: streams of different purposes never meet.
enum class Purpose : std::uint32_t {
  kInitializer = 1,
  kShuffle = 2,
  kDropout = 3,
  kSynthetic = 4,
  kTest = 5
};

/// Four words for (seed, purpose, stream, index); `stream` is e.g. an epoch or a parameter's number.
constexpr PhiloxCounter random_words(std::uint64_t seed, Purpose purpose, std::uint32_t stream,
                                     std::uint64_t index) {
  return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), stream,
                 static_cast<std::uint32_t>(purpose)},
                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

/// Uniform in [0, 1): the upper 24 bits of a word.
constexpr float to_unit_float(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24F;
}

/// Two independent standard normal values from two words (Box & Muller 1958), computed in double.
std::array<float, 2> to_normal(std::uint32_t a, std::uint32_t b);

}  // namespace mirrorscale::kernels

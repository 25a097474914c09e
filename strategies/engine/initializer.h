#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::strategies {

/// How a parameter gets its first values: a pure function of (seed, parameter number, element), so that every
/// replica, instruction set and machine starts from the same bits.
///   kGlorotUniform  uniform in ±sqrt(6 / (fan_in + fan_out))   (Glorot & Bengio 2010; the default of dense
///   kernels) kHeUniform      uniform in ±sqrt(6 / fan_in)               (He et al. 2015) kGlorotNormal,
///   kHeNormal   normal with variance 2 / (fan_in + fan_out), 2 / fan_in
///   kUniform        uniform in ±value                         kNormal  normal with standard deviation value
struct Initializer {
  enum class Kind {
    kZeros,
    kOnes,
    kConstant,
    kGlorotUniform,
    kHeUniform,
    kGlorotNormal,
    kHeNormal,
    kUniform,
    kNormal
  };
  Kind kind = Kind::kGlorotUniform;
  float value = 0;  // of kConstant, kUniform, kNormal
};

/// "zeros", "ones", "glorot_uniform", "he_uniform", "glorot_normal", "he_normal". Throws
/// std::invalid_argument.
Initializer initializer_from(std::string_view name);

/// `count` values, in row-major order. `fan_in`, `fan_out`: inputs an output is made of, and the reverse.
std::vector<float> initial_values(const Initializer& initializer, std::size_t count, int fan_in, int fan_out,
                                  std::uint64_t seed, std::uint32_t parameter);

}  // namespace mirrorscale::strategies

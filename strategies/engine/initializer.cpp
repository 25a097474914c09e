#include "strategies/engine/initializer.h"

#include "kernels/random.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace mirrorscale::strategies {
namespace {

using Kind = Initializer::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 6> kNames{{{"zeros", Kind::kZeros},
                                                                   {"ones", Kind::kOnes},
                                                                   {"glorot_uniform", Kind::kGlorotUniform},
                                                                   {"he_uniform", Kind::kHeUniform},
                                                                   {"glorot_normal", Kind::kGlorotNormal},
                                                                   {"he_normal", Kind::kHeNormal}}};

}  // namespace

Initializer initializer_from(std::string_view name) {
  std::string known;
  for (const auto& [text, kind] : kNames) {
    if (text == name) return {kind, 0};
    known += " " + std::string(text);
  }
  throw std::invalid_argument("[initializer] '" + std::string(name) + "' is not known; there are:" + known);
}

std::vector<float> initial_values(const Initializer& initializer, std::size_t count, int fan_in, int fan_out,
                                  std::uint64_t seed, std::uint32_t parameter) {
  std::vector<float> values(count);
  const bool glorot = initializer.kind == Kind::kGlorotUniform || initializer.kind == Kind::kGlorotNormal;
  const double fan = glorot ? fan_in + fan_out : fan_in;
  switch (initializer.kind) {
    case Kind::kZeros:
      break;
    case Kind::kOnes:
      values.assign(count, 1.0F);
      break;
    case Kind::kConstant:
      values.assign(count, initializer.value);
      break;
    case Kind::kGlorotUniform:
    case Kind::kUniform:
    case Kind::kHeUniform: {
      const auto limit =
          initializer.kind == Kind::kUniform ? initializer.value : static_cast<float>(std::sqrt(6.0 / fan));
      for (std::size_t i = 0; i < count; ++i) {
        const auto words = kernels::random_words(seed, kernels::Purpose::kInitializer, parameter, i / 4);
        values[i] = (2.0F * kernels::to_unit_float(words[i % 4]) - 1.0F) * limit;
      }
      break;
    }
    case Kind::kGlorotNormal:
    case Kind::kNormal:
    case Kind::kHeNormal: {
      const auto deviation =
          initializer.kind == Kind::kNormal ? initializer.value : static_cast<float>(std::sqrt(2.0 / fan));
      for (std::size_t i = 0; i < count; ++i) {
        const auto words = kernels::random_words(seed, kernels::Purpose::kInitializer, parameter, i / 2);
        values[i] = kernels::to_normal(words[0], words[1])[i % 2] * deviation;
      }
      break;
    }
  }
  return values;
}

}  // namespace mirrorscale::strategies

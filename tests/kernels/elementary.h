#pragma once
#include "kernels/cpu/tables.h"
#include "kernels/exact/scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>

namespace mirrorscale::kernels::testing {

inline double exact_sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
inline double exact_gelu(double x) {
  return x * std::erfc(-x * 0.70710678118654752) / 2;
}

/// Element functions and what we allow: the largest error in units of the last place of the float nearest to
/// the true value, or (gelu, whose left tail cancels) the largest absolute error. Measured over all floats;
/// tanh 1.32 is the worst of them.
struct Function {
  const char* name;
  float (*scalar)(float);
  double (*truth)(double);
  cpu::ElementTable::Map cpu::ElementTable::*map;
  double allowed_ulp;
  double allowed_absolute;
};
inline void PrintTo(const Function& f, std::ostream* out) {
  *out << f.name;
}
inline const Function kFunctions[] = {
    {"exp", &exact::exp<float>, &std::exp, &cpu::ElementTable::exp, 1.05, 0},
    {"log", &exact::log<float>, &std::log, &cpu::ElementTable::log, 0.85, 0},
    {"tanh", &exact::tanh<float>, &std::tanh, &cpu::ElementTable::tanh, 1.35, 0},
    {"erf", &exact::erf<float>, &std::erf, &cpu::ElementTable::erf, 1.1, 0},
    {"sigmoid", &exact::sigmoid<float>, &exact_sigmoid, &cpu::ElementTable::sigmoid, 2.3, 0},
    {"gelu", &exact::activated<Activation::kGelu, float>, &exact_gelu, &cpu::ElementTable::gelu, 2.1, 4e-7},
};

/// Distance of `y` from `truth` in units of the last place of the float nearest to `truth`; huge where one is
/// NaN or infinite and the other not.
inline double ulp_error(float y, double truth) {
  const auto nearest = static_cast<float>(truth);
  if (std::isnan(truth) || std::isinf(nearest) || std::isinf(y)) {
    const bool same = std::isnan(truth) == std::isnan(y) && (std::isnan(y) || nearest == y);
    return same ? 0 : std::numeric_limits<double>::max();
  }
  const int exponent = nearest == 0 ? -126 : std::max(std::ilogb(nearest), -126);
  return std::abs(static_cast<double>(y) - truth) / std::ldexp(1.0, exponent - 23);
}

}  // namespace mirrorscale::kernels::testing

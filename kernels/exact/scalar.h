#pragma once
#include "kernels/activation.h"
#include "kernels/exact/number.h"
#include "kernels/update.h"

#include <cmath>
#include <type_traits>
#include <utility>

/// The element functions on float, which are their definition, and on double, where exp, log, tanh and erf
/// are the C library's (for gradient checks).
namespace mirrorscale::kernels::exact {

inline double exp(double x) {
  return std::exp(x);
}
inline double log(double x) {
  return std::log(x);
}
inline double tanh(double x) {
  return std::tanh(x);
}
inline double erf(double x) {
  return std::erf(x);
}

// Each needs the ones above it, so:
// clang-format off
#include "kernels/exact/elementary-inl.h"
#include "kernels/exact/activation-inl.h"
#include "kernels/exact/update-inl.h"
// clang-format on

/// Calls body(std::integral_constant<Activation, f>): from a value to a template argument.
template <class Body>
void with_activation(Activation f, Body&& body) {
  switch (f) {
    case Activation::kLinear:
      return body(std::integral_constant<Activation, Activation::kLinear>());
    case Activation::kRelu:
      return body(std::integral_constant<Activation, Activation::kRelu>());
    case Activation::kTanh:
      return body(std::integral_constant<Activation, Activation::kTanh>());
    case Activation::kSigmoid:
      return body(std::integral_constant<Activation, Activation::kSigmoid>());
    case Activation::kGelu:
      return body(std::integral_constant<Activation, Activation::kGelu>());
  }
}

}  // namespace mirrorscale::kernels::exact

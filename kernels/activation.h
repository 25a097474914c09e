#pragma once
#include <string>
#include <string_view>

namespace mirrorscale::kernels {

/// Elementwise functions y = f(z).
///   kRelu    max(z, 0); NaN stays
///   kGelu    z (1 + erf(z / sqrt 2)) / 2, the erf form
enum class Activation { kLinear, kRelu, kTanh, kSigmoid, kGelu };

/// What f'(z) is computed from: true for kGelu, which needs z itself; the others need y = f(z) only.
constexpr bool derivative_needs_input(Activation f) {
  return f == Activation::kGelu;
}

/// "linear", "relu", "tanh", "sigmoid", "gelu".
std::string_view to_string(Activation f);
/// The inverse of to_string. Throws std::invalid_argument that lists the names.
Activation activation_from(std::string_view name);

}  // namespace mirrorscale::kernels

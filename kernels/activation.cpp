#include "kernels/activation.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace mirrorscale::kernels {
namespace {

constexpr std::array<std::pair<Activation, std::string_view>, 5> kNames{{{Activation::kLinear, "linear"},
                                                                         {Activation::kRelu, "relu"},
                                                                         {Activation::kTanh, "tanh"},
                                                                         {Activation::kSigmoid, "sigmoid"},
                                                                         {Activation::kGelu, "gelu"}}};

}  // namespace

std::string_view to_string(Activation f) {
  for (const auto& [activation, name] : kNames) {
    if (activation == f) return name;
  }
  throw std::logic_error("[activation] value " + std::to_string(static_cast<int>(f)) + " has no name");
}

Activation activation_from(std::string_view name) {
  std::string known;
  for (const auto& [activation, text] : kNames) {
    if (text == name) return activation;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  throw std::invalid_argument("[activation] unknown activation '" + std::string(name) +
                              "'; expected one of: " + known);
}

}  // namespace mirrorscale::kernels

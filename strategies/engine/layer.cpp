#include "strategies/engine/layer.h"

#include <stdexcept>

namespace mirrorscale::strategies {

OutputFunction output_function_from(const std::string& name) {
  if (name == "softmax") return {kernels::Activation::kLinear, true};
  try {
    return {kernels::activation_from(name), false};
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(std::string(e.what()) + "; and softmax as the function of a layer");
  }
}

std::string to_string(const OutputFunction& function) {
  return function.softmax ? "softmax" : std::string(kernels::to_string(function.f));
}

void refuse_second_place(const std::string& name) {
  throw std::invalid_argument("[model] layer '" + name +
                              "' has a place in a model already; make a new layer for each place and model");
}

}  // namespace mirrorscale::strategies

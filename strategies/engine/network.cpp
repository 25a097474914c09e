#include "strategies/engine/network.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

const Shape& checked(const Shape& in) {
  if (in.height >= 1 && in.width >= 1 && in.channels >= 1) return in;
  if (in.positions() == 1) {
    throw std::invalid_argument("[model] features is " + std::to_string(in.channels) + "; needs at least 1");
  }
  throw std::invalid_argument("[model] input shape is " + to_string(in) + "; each size needs at least 1");
}

/// A data set's rows come one a sample, whatever is in them.
Shape as_rows(Shape in) {
  in.packed = in.positions() > 1;
  return in;
}

}  // namespace

Network::Network(const Shape& in, const std::vector<LayerPtr>& layers)
    : chain_(as_rows(checked(in)), layers, "", parameters_, false) {}

std::vector<NamedArray> Network::initial_weights(std::uint64_t seed) const {
  std::vector<NamedArray> arrays;
  for (const auto& slice : parameters_.slices()) {
    const ParameterSpec& spec = slice.spec;
    const auto number = static_cast<std::uint32_t>(arrays.size());
    const int fan_in = spec.fan_in > 0 ? spec.fan_in : std::max(1, spec.rows);
    const int fan_out = spec.fan_out > 0 ? spec.fan_out : spec.columns;
    arrays.push_back({spec.name, spec.shown_shape(),
                      initial_values(spec.initializer, spec.count(), fan_in, fan_out, seed, number)});
  }
  return arrays;
}

std::string Network::summary() const {
  std::string text = "layer            output             function    parameters\n";
  for (const auto& stage : stages()) {
    std::size_t count = 0;
    for (const auto& slice : parameters_.slices()) {
      if (slice.offset >= stage.parameters_begin && slice.offset < stage.parameters_end)
        count += slice.spec.count();
    }
    char line[160];
    std::snprintf(line, sizeof line, "%-16s %-18s %-11s %10zu\n", stage.name.c_str(),
                  to_string(stage.out).c_str(), to_string(stage.layer->output_function()).c_str(), count);
    text += line;
  }
  return text + "parameters: " + std::to_string(parameters_.count()) + "\n";
}

}  // namespace mirrorscale::strategies

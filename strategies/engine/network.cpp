#include "strategies/engine/network.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>

namespace mirrorscale::strategies {

Network::Network(int features, std::vector<LayerPtr> layers) {
  if (features < 1) {
    throw std::invalid_argument("[model] features is " + std::to_string(features) + "; needs at least 1");
  }
  if (layers.empty()) throw std::invalid_argument("[model] has no layers; add at least one, e.g. dense");
  std::map<std::string, int> used;
  int in = features;
  bool trains_earlier = false;
  for (LayerPtr& layer : layers) {
    if (layer == nullptr) throw std::invalid_argument("[model] a layer is null");
    const int number = used[layer->kind()]++;
    const std::string name = number == 0 ? layer->kind() : layer->kind() + "_" + std::to_string(number);
    const std::size_t before = parameters_.size();
    Stage stage{layer, name, in, layer->build(in, name, parameters_), trains_earlier, transposed_size_,
                before};
    if (trains_earlier && layer->transposed_parameter() >= 0) {
      const ParameterSpec& spec = parameters_[layer->transposed_parameter()].spec;
      transposed_size_ += kernels::weight_size(spec.columns, spec.rows);
    }
    trains_earlier = trains_earlier || parameters_.size() != before;
    in = stage.out;
    stages_.push_back(std::move(stage));
  }
}

int Network::widest() const {
  int width = features();
  for (const Stage& stage : stages_) width = std::max(width, stage.out);
  return width;
}

double Network::flops_per_row() const {
  double sum = 0;
  for (const Stage& stage : stages_)
    sum += stage.layer->forward_flops() + stage.layer->backward_flops(stage.wants_dx);
  return sum;
}

std::vector<NamedArray> Network::initial_weights(std::uint64_t seed) const {
  std::vector<NamedArray> arrays;
  for (const auto& slice : parameters_.slices()) {
    const ParameterSpec& spec = slice.spec;
    const auto number = static_cast<std::uint32_t>(arrays.size());
    arrays.push_back(
        {spec.name,
         spec.rows > 0 ? std::vector<int>{spec.rows, spec.columns} : std::vector<int>{spec.columns},
         initial_values(spec.initializer, std::max(1, spec.rows), spec.columns, seed, number)});
  }
  return arrays;
}

std::string Network::summary() const {
  std::string text = "layer            output      function    parameters\n";
  for (const Stage& stage : stages_) {
    std::size_t count = 0;
    for (const auto& slice : parameters_.slices()) {
      if (slice.spec.name.rfind(stage.name + "/", 0) == 0) count += slice.spec.count();
    }
    char line[160];
    std::snprintf(line, sizeof line, "%-16s [rows, %d]%*s%-11s %10zu\n", stage.name.c_str(), stage.out,
                  std::max(1, 5 - static_cast<int>(std::to_string(stage.out).size())), "",
                  to_string(stage.layer->output_function()).c_str(), count);
    text += line;
  }
  return text + "parameters: " + std::to_string(parameters_.count()) + "\n";
}

}  // namespace mirrorscale::strategies

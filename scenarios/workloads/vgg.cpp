#include "scenarios/workloads/registry.h"
#include "strategies/engine/convolution.h"
#include "strategies/engine/pooling.h"
#include "strategies/engine/reshape.h"

namespace mirrorscale::scenarios {
namespace {

using strategies::LayerPtr;

/// Configuration A of Simonyan & Zisserman (2014), with `width` filters in its first layer and dense layers
/// of `dense` units. Without dropout. He's initial values (He et al. 2015): Glorot's die out in eleven
/// layers.
std::vector<LayerPtr> vgg_layers(const char* workload, int width, int dense, const RowShape& shape) {
  const int outputs = require_images(workload, shape).outputs();
  constexpr strategies::Initializer kHe{strategies::Initializer::Kind::kHeUniform, 0};
  std::vector<LayerPtr> layers;
  for (const auto& [times, convolutions] : {std::pair(1, 1), {2, 1}, {4, 2}, {8, 2}, {8, 2}}) {
    for (int i = 0; i < convolutions; ++i) {
      layers.push_back(strategies::conv2d({.filters = width * times,
                                           .kernel = 3,
                                           .padding = "same",
                                           .activation = "relu",
                                           .kernel_initializer = kHe}));
    }
    layers.push_back(strategies::max_pool());
  }
  layers.push_back(strategies::flatten());
  for (int i = 0; i < 2; ++i) {
    layers.push_back(
        strategies::dense(dense, strategies::DenseOptions{.activation = "relu", .kernel_initializer = kHe}));
  }
  layers.push_back(strategies::dense(outputs));
  return layers;
}

Workload vgg_of(const char* name, const char* data, int width, int dense) {
  return {.name = name,
          .description = "VGG-11: eight 3x3 convolutions of " + std::to_string(width) + " to " +
                         std::to_string(8 * width) + " filters, five pools, dense " + std::to_string(dense) +
                         " twice: many parameters, little work, so it scales worst",
          .data = data,
          .optimizer = "adam",
          .loss = "sparse_categorical_crossentropy_from_logits",
          .metrics = {"accuracy"},
          .layers = [=](const RowShape& shape) { return vgg_layers(name, width, dense, shape); }};
}

}  // namespace

Workload vgg_workload() {
  return vgg_of("vgg", "images", 64, 4096);
}
Workload vgg_small_workload() {
  return vgg_of("vgg-small", "images-small", 4, 256);
}

}  // namespace mirrorscale::scenarios

#include "scenarios/workloads/registry.h"

namespace mirrorscale::scenarios {
namespace {

using strategies::Initializer;
using strategies::LayerPtr;

struct Size {
  int blocks, width, heads;
};

/// A decoder of pre-norm blocks, as GPT-2 (Radford et al. 2019): x + attention(norm(x)), x + mlp(norm(x)).
std::vector<LayerPtr> decoder(const char* workload, const Size& size, const RowShape& shape) {
  const int tokens = require_classes(workload, shape).classes;
  constexpr Initializer kTable{Initializer::Kind::kNormal, 0.02F};
  std::vector<LayerPtr> layers{strategies::embedding(tokens, size.width, kTable),
                               strategies::position_embedding(kTable)};
  for (int b = 0; b < size.blocks; ++b) {
    layers.push_back(strategies::residual({strategies::layer_norm(), strategies::dense(3 * size.width),
                                           strategies::self_attention({.heads = size.heads, .causal = true}),
                                           strategies::dense(size.width)}));
    layers.push_back(
        strategies::residual({strategies::layer_norm(), strategies::dense(4 * size.width, "gelu"),
                              strategies::dense(size.width)}));
  }
  layers.push_back(strategies::layer_norm());
  layers.push_back(strategies::dense(tokens));
  return layers;
}

Workload decoder_workload(const char* name, const char* data, const Size& size) {
  return {.name = name,
          .description = "the next token at each position: " + std::to_string(size.blocks) +
                         " pre-norm blocks, width " + std::to_string(size.width) + ", " +
                         std::to_string(size.heads) + " heads, causal",
          .data = data,
          .optimizer = "adam",
          .loss = "sparse_categorical_crossentropy_from_logits",
          .metrics = {"bits_per_token"},
          .layers = [=](const RowShape& shape) { return decoder(name, size, shape); }};
}

}  // namespace

Workload transformer_workload() {
  return decoder_workload("transformer", "tokens", {4, 128, 4});
}
Workload transformer_small_workload() {
  return decoder_workload("transformer-small", "tokens-small", {2, 32, 2});
}

}  // namespace mirrorscale::scenarios

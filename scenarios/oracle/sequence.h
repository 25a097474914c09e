#pragma once
#include "scenarios/oracle/layer.h"

#include <cstddef>
#include <memory>
#include <vector>

/// Layers over the positions of a sequence, as plain loops with error scales. A row is a sample: the channels
/// of its positions, one position after the other.
namespace mirrorscale::scenarios::oracle {

using LayerPtr = std::unique_ptr<Layer>;

/// `layer` at each of `positions` alike; itself where there is one. Its sums over rows have chains that are
/// as many times longer.
LayerPtr at_positions(std::size_t positions, LayerPtr layer);

/// One after the other; nullptr where there are none: x itself.
LayerPtr stack(std::vector<LayerPtr> layers);

/// y = f(branch(x) + shortcut(x)); without a shortcut + x.
LayerPtr residual(LayerPtr branch, LayerPtr shortcut, Activation f);

/// y = (x - mean) / sqrt(variance + epsilon) gamma + beta; arrays gamma, beta: [columns].
LayerPtr layer_norm(std::size_t columns, double epsilon);

/// Row x(t) of the table for each t; array: [tokens, width].
LayerPtr embedding(std::size_t tokens, std::size_t width, std::size_t time);

/// y = x + array: [time, width].
LayerPtr position_embedding(std::size_t time, std::size_t width);

/// Scaled dot-product attention of (queries, keys, values) at each position, each of `heads` heads of `size`.
struct AttentionSettings {
  std::size_t positions = 1, heads = 1, size = 1;
  bool causal = false;
  double factor = 0;  // of the scores; 0: 1 / sqrt(size)
};
LayerPtr self_attention(const AttentionSettings& settings);

}  // namespace mirrorscale::scenarios::oracle

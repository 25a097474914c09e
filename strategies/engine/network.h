#pragma once
#include "strategies/engine/layer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

/// A stack of built layers: shapes, parameters, and where each thing lies in the arenas. Immutable once made,
/// and shared by all replicas.
class Network {
 public:
  struct Stage {
    LayerPtr layer;
    std::string name;
    int in = 0, out = 0;
    bool wants_dx = false;              // an earlier layer has parameters
    std::size_t transposed_offset = 0;  // of its transposed parameter, where wants_dx and there is one
    std::size_t parameters_offset = 0;  // where its parameters begin in the arena
  };

  /// Throws std::invalid_argument for no layers, features < 1, or a null layer.
  Network(int features, std::vector<LayerPtr> layers);

  int features() const { return stages_.front().in; }
  int outputs() const { return stages_.back().out; }
  const std::vector<Stage>& stages() const { return stages_; }
  const ParameterLayout& parameters() const { return parameters_; }
  std::size_t transposed_size() const { return transposed_size_; }
  /// Widest activation.
  int widest() const;
  /// Floating-point operations a training row takes: forward and backward products.
  double flops_per_row() const;
  /// Row-major initial values of every parameter.
  std::vector<NamedArray> initial_weights(std::uint64_t seed) const;
  /// A table of layers, output shapes and parameter counts.
  std::string summary() const;

 private:
  std::vector<Stage> stages_;
  ParameterLayout parameters_;
  std::size_t transposed_size_ = 0;
};

}  // namespace mirrorscale::strategies

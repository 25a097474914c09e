#pragma once
#include "strategies/engine/chain.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

/// A stack of built layers and its parameters. Immutable once made, and shared by all replicas.
class Network {
 public:
  /// Throws std::invalid_argument for no layers, an empty shape, or a null layer.
  Network(const Shape& in, const std::vector<LayerPtr>& layers);

  /// Columns of a data set's rows.
  int features() const { return chain_.in().size(); }
  const Shape& out() const { return chain_.out(); }
  /// Columns of its result.
  int outputs() const { return chain_.out().columns(); }
  const Chain& chain() const { return chain_; }
  const std::vector<Chain::Stage>& stages() const { return chain_.stages(); }
  const ParameterLayout& parameters() const { return parameters_; }
  /// Floating-point operations a training sample takes: forward and backward products.
  double flops_per_row() const { return chain_.forward_flops() + chain_.backward_flops(); }
  /// Row-major initial values of every parameter.
  std::vector<NamedArray> initial_weights(std::uint64_t seed) const;
  /// A table of layers, output shapes and parameter counts.
  std::string summary() const;

 private:
  ParameterLayout parameters_;  // filled while chain_ is built
  Chain chain_;
};

}  // namespace mirrorscale::strategies

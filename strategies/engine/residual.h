#pragma once
#include "strategies/engine/chain.h"

#include <optional>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

struct ResidualOptions {
  /// What the input goes through beside the branch; none: it is added as it is.
  std::vector<LayerPtr> shortcut = {};
  std::string activation = "linear";  // of the sum; see output_function_from
};

/// y = f(branch(x) + shortcut(x)), each a chain of layers. Both must end in the same shape; without a
/// shortcut that is the input's.
class Residual final : public Layer {
 public:
  /// Throws std::invalid_argument for an empty branch, an unknown activation, or softmax.
  explicit Residual(std::vector<LayerPtr> branch, const ResidualOptions& options = {});

  std::string kind() const override { return "residual"; }
  /// Of a layer that has been built; `shortcut` is null where the input is added as it is.
  const Chain& branch() const { return *branch_; }
  const Chain* shortcut() const { return shortcut_ ? &*shortcut_ : nullptr; }
  Shape build(const Shape& in, const BuildPlan& plan) override;
  OutputFunction output_function() const override { return function_; }
  bool random() const override { return branch_->random() || (shortcut_ && shortcut_->random()); }
  double forward_flops() const override;
  double backward_flops(bool with_dx) const override;
  std::size_t kept_size(int samples) const override;
  std::size_t scratch_size(int samples) const override;
  std::size_t largest_matrix(int samples) const override;
  void forward(const ForwardPass& pass) const override;
  void backward(const BackwardPass& pass) const override;

 private:
  struct Rooms {
    Room branch, shortcut;
    kernels::Matrix shortcut_dx;
  };
  Rooms rooms(const Room& room, kernels::Layout layout) const;

  const std::vector<LayerPtr> branch_layers_, shortcut_layers_;
  const OutputFunction function_;
  Shape in_;
  std::optional<Chain> branch_, shortcut_;
};

}  // namespace mirrorscale::strategies

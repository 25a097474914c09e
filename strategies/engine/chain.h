#pragma once
#include "strategies/engine/layer.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

/// Built layers one after the other: a whole network, or a branch inside a layer. Holds no values.
class Chain {
 public:
  struct Stage {
    LayerPtr layer;
    std::string name;
    Shape in, out;
    bool wants_dx = false;
    std::size_t parameters_begin = 0, parameters_end = 0;  // of its own, in the arena
  };

  /// Builds the layers for input `in`, named "<prefix><kind>", "<prefix><kind>_1" and so on. Throws
  /// std::invalid_argument for no layers, a null one, or tokens that are wanted anywhere but at the
  /// beginning.
  Chain(const Shape& in, const std::vector<LayerPtr>& layers, const std::string& prefix,
        ParameterLayout& parameters, bool wants_dx);

  const std::vector<Stage>& stages() const { return stages_; }
  const Shape& in() const { return stages_.front().in; }
  const Shape& out() const { return stages_.back().out; }
  /// True when a training step draws random numbers.
  bool random() const;
  double forward_flops() const;
  double backward_flops() const;
  /// Floats of the largest matrix between its layers, input included.
  std::size_t largest_matrix(int samples) const;

  /// Floats of its Room: all outputs, and what layers keep; two deltas and the neediest layer's scratch.
  std::size_t kept_size(int samples) const;
  std::size_t scratch_size(int samples) const;
  /// Reads pass.x; y and saved of the pass are not used: the result is output(pass.room).
  void forward(const ForwardPass& pass) const;
  kernels::ConstMatrix output(kernels::Layout layout, const Room& room) const;
  /// Where the gradient at the output has to be before backward; in the scratch.
  kernels::Matrix output_gradient(kernels::Layout layout, const Room& room) const;
  /// As Layer::backward, from output_gradient (of the values AFTER the last function, which is overwritten)
  /// instead of pass.dz and pass.y. `ready`, where given, is called with `from` whenever the gradients at
  /// arena positions from `from` on are enqueued: from the last layer to the first.
  void backward(const BackwardPass& pass, const std::function<void(std::size_t from)>& ready = {}) const;

 private:
  struct Places;  // of a stage's matrices in the room
  static Places places(const Stage& stage, float* at, kernels::Layout layout, const Room& room,
                       float* scratch);
  static std::size_t kept_by(const Stage& stage, int samples);
  std::size_t delta_size(int samples) const;

  std::vector<Stage> stages_;
};

}  // namespace mirrorscale::strategies

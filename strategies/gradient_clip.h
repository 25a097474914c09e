#pragma once
#include "strategies/engine/clipping.h"
#include "strategies/engine/replica.h"

#include <span>
#include <vector>

namespace mirrorscale::strategies {

/// Blocks of an arena of parameters.
std::size_t blocks_of(const ParameterLayout& parameters);

/// squares[i] = sum of squares of the gradients in block first + i of the arena, in host memory or on the
/// device as `gradient` is; see Backend::squares_of_blocks.
void squares_of_blocks(Replica& replica, const float* gradient, std::size_t first, std::size_t blocks,
                       float* squares);

/// What clipping multiplies each parameter's gradient by, in the order of the layout; 1 where it does not
/// act. `squares`: of all blocks, added up in a binary tree over the blocks of a parameter, then over the
/// parameters: the same bits however the blocks were shared out.
void clip_factors(const ParameterLayout& parameters, std::span<const float> squares, const Clipping& clipping,
                  std::span<float> factors);

/// Clips where a replica holds the whole gradient.
class GradientClip {
 public:
  /// Makes room; nothing where `clipping` is not active.
  void make(Replica& replica, const Clipping& clipping);
  /// Bytes of that room on the device.
  static std::size_t planned_bytes(const ParameterLayout& parameters, const Clipping& clipping) {
    return clipping.wants_norms() ? blocks_of(parameters) * sizeof(float) : 0;
  }
  /// `gradient`: the arena of sums, which becomes the gradient, `scale` and penalties included, clipped by
  /// value. Returns what is left to multiply each parameter's by.
  std::span<const float> apply(Replica& replica, const Clipping& clipping, float scale, float* gradient);

 private:
  kernels::Buffer device_squares_;
  std::vector<float> squares_, factors_;
};

}  // namespace mirrorscale::strategies

#pragma once
#include "strategies/engine/optimizer.h"
#include "strategies/engine/replica.h"
#include "strategies/reducer.h"

#include <span>
#include <vector>

namespace mirrorscale::strategies {

/// Blocks of an arena of parameters.
std::size_t blocks_of(const ParameterLayout& parameters);

/// squares[i] = sum of squares of what is in block first + i of the arena, in host memory or on the device
/// as `arena` is; see Backend::squares_of_blocks.
void squares_of_blocks(Replica& replica, const float* arena, std::size_t first, std::size_t blocks,
                       float* squares);

/// What clipping multiplies each parameter's gradient by, in the order of the layout; 1 where it does not
/// act. `squares`: of all blocks, added up in a binary tree over the blocks of a parameter, then over the
/// parameters: the same bits however the blocks were shared out.
void clip_factors(const ParameterLayout& parameters, std::span<const float> squares, const Clipping& clipping,
                  std::span<float> factors);

/// What a layerwise optimizer multiplies each parameter's step by, in the order of the layout, from the
/// squares of all blocks of the weights and of the directions, added up as in clip_factors.
void trust_ratios(const ParameterLayout& parameters, const Optimizer& optimizer,
                  std::span<const float> weight_squares, std::span<const float> direction_squares,
                  std::span<float> ratios);

/// Whether all of them are, and so all that they are sums of squares of, up to roots of float's range.
bool finite(std::span<const float> squares);
/// Whether loss and weight of a batch are finite.
bool finite(const StepStatistics& statistics);

/// Norms where a replica holds the whole gradient.
class WholeNorms {
 public:
  /// Makes room; nothing where `optimizer` wants no norms.
  void make(Replica& replica, const Optimizer& optimizer);
  /// Bytes of that room on the device, with what `look` needs where `guarded`.
  static std::size_t planned_bytes(const ParameterLayout& parameters, const Optimizer& optimizer,
                                   bool guarded) {
    const bool any = optimizer.clipping().wants_norms() || optimizer.layerwise() || guarded;
    return any ? blocks_of(parameters) * sizeof(float) : 0;
  }
  /// Makes room for `look`.
  void guard(Replica& replica);
  /// Looks at a batch's statistics and the arena of its gradient.
  NonFinite look(Replica& replica, const StepStatistics& statistics, const float* gradient);
  /// `gradient`: the arena of sums, which becomes the gradient, `scale` and penalties included, clipped by
  /// value. Returns what is left to multiply each parameter's by.
  std::span<const float> clip(Replica& replica, const Clipping& clipping, float scale, float* gradient);
  /// See trust_ratios. `direction`: an arena.
  std::span<const float> trust(Replica& replica, const Optimizer& optimizer, const float* direction);

 private:
  void take_squares(Replica& replica, const float* arena, std::vector<float>& squares);

  kernels::Buffer device_squares_;
  std::vector<float> squares_, weight_squares_, factors_, ratios_;
};

}  // namespace mirrorscale::strategies

#pragma once
#include "strategies/engine/optimizer.h"
#include "strategies/engine/replica.h"
#include "strategies/gradient_clip.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace mirrorscale::strategies {

/// Visits the parts of the slices that lie in [first, last), in chunks of at most `chunk` floats that end at
/// block boundaries: visit(slice, at, count).
template <class Visit>
void for_each_chunk(const ParameterLayout& parameters, std::size_t first, std::size_t last, std::size_t chunk,
                    Visit visit) {
  for (const ParameterLayout::Slice& slice : parameters.slices()) {
    const std::size_t end = std::min(last, slice.offset + slice.size);
    for (std::size_t at = std::max(first, slice.offset); at < end; at += chunk) {
      visit(slice, at, std::min(chunk, end - at));
    }
  }
}

/// The optimizer's slots where a replica holds all of them: arenas of its device.
class SlotArenas {
 public:
  /// `count` arenas of the size of the replica's parameters, zeroed.
  void make(Replica& replica, std::size_t count);
  std::span<float* const> arenas() const { return arenas_; }
  /// Copies them into host memory.
  void read(Replica& replica, std::span<std::vector<float>> to) const;
  void write(Replica& replica, std::span<const std::vector<float>> from);

 private:
  std::vector<kernels::Buffer> buffers_;
  std::vector<float*> arenas_;
};

/// Updates all weights of `replica` from the summed gradient arena and makes their transposed copies: chunk
/// by chunk while they are in cache, or run by run of slices that are updated alike. `slots` are arenas.
/// `gradient` is written where the optimizer clips.
void update_all(const Optimizer& optimizer, const StepValues& values, float scale, float* gradient,
                std::span<float* const> slots, GradientClip& clip, Replica& replica);

/// Gradient terms of a slice: the penalty's gradient comes once, after the sum over rows was scaled.
kernels::GradientTerms terms_of(const ParameterSpec& spec, float scale);
/// The same; or, where the gradient has been clipped, what is left to multiply it by: `factors`, by
/// parameter, empty where it has not.
kernels::GradientTerms terms_of(const ParameterLayout& parameters, const ParameterLayout::Slice& slice,
                                float scale, std::span<const float> factors);

/// Transposes the blocks of weights that lie at arena positions at .. at + count - 1, from `weights` into the
/// transposed copy of `replica`. Nothing where the slice has none.
void transpose_chunk(kernels::Backend& backend, const ParameterLayout::Slice& slice, std::size_t at,
                     std::size_t count, const float* weights, Replica& replica);

}  // namespace mirrorscale::strategies

#pragma once
#include "strategies/engine/optimizer.h"
#include "strategies/engine/replica.h"
#include "strategies/norms.h"

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
/// `gradient` is written where the optimizer clips or is layerwise.
void update_all(const Optimizer& optimizer, const StepValues& values, float scale, float* gradient,
                std::span<float* const> slots, WholeNorms& norms, Replica& replica);

/// Gradient terms of a slice: the penalty's gradient comes once, after the sum over rows was scaled.
kernels::GradientTerms terms_of(const ParameterSpec& spec, float scale);
/// What a step's updates multiply by, beside the learning rate.
struct StepFactors {
  float scale = 1;               // of the sum over rows
  std::span<const float> clip;   // by parameter, where the gradient is ready but for these; else empty
  std::span<const float> trust;  // by parameter, where directions have taken the gradient's place; else empty
};
/// What a range of a slice has beside its place: terms, trust, and whether it is decayed.
UpdateRange range_of(const Optimizer& optimizer, const ParameterLayout& parameters,
                     const ParameterLayout::Slice& slice, const StepFactors& factors);

/// Transposes the blocks of weights that lie at arena positions at .. at + count - 1, from `weights` into the
/// transposed copy of `replica`. Nothing where the slice has none.
void transpose_chunk(kernels::Backend& backend, const ParameterLayout::Slice& slice, std::size_t at,
                     std::size_t count, const float* weights, Replica& replica);

}  // namespace mirrorscale::strategies

#pragma once
#include "kernels/cuda/gpu.h"

/// Kernels whose threads take 4 floats each.
namespace mirrorscale::kernels::cuda {

inline constexpr int kFoursThreads = 256;

inline Launch fours_launch(const char* name, cudaStream_t stream, std::size_t fours) {
  return {
      .name = name, .blocks = blocks_of(fours, kFoursThreads), .threads = kFoursThreads, .stream = stream};
}

/// step(x of each), then y, z and w.
template <class Step, class... Four>
__device__ __forceinline__ void for_each_of_four(const Step& step, Four&... four) {
  step(four.x...);
  step(four.y...);
  step(four.z...);
  step(four.w...);
}

}  // namespace mirrorscale::kernels::cuda

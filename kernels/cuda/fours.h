#pragma once
#include "kernels/cuda/gpu.h"

/// Kernels whose threads take 4 floats each.
namespace mirrorscale::kernels::cuda {

inline constexpr int kFoursThreads = 256;

inline Launch fours_launch(const char* name, cudaStream_t stream, std::size_t fours) {
  return {
      .name = name, .blocks = blocks_of(fours, kFoursThreads), .threads = kFoursThreads, .stream = stream};
}

}  // namespace mirrorscale::kernels::cuda

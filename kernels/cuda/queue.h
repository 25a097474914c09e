#pragma once
#include "kernels/backend.h"

#include <cuda_runtime.h>

namespace mirrorscale::kernels::cuda {

/// Where the ops of a CUDA backend are enqueued.
struct Queue {
  int ordinal = 0;
  cudaStream_t stream{};
};
/// Throws std::logic_error for a backend that is not a CUDA one.
Queue queue_of(Backend& backend);

}  // namespace mirrorscale::kernels::cuda

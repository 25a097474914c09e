#pragma once

/// What a .cu file sees when the host compiler builds it for the emulated device: the names that nvcc knows
/// by itself. Include it in place of cuda_runtime.h, from the one header of the project that .cu files
/// include. Kernels keep to what is here; no inline PTX, no cooperative groups, no cub, no extern __shared__.
#include "emulated_cuda/device_atomics.h"
#include "emulated_cuda/device_math.h"
#include "emulated_cuda/device_warp.h"
#include "emulated_cuda/executor.h"
#include "emulated_cuda/launch.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// The CUDA threads of a block are fibers of one OS thread, which runs one block at a time.
#undef __shared__
#define __shared__ static thread_local
#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __constant__
#define __constant__ static
#undef __grid_constant__
#define __grid_constant__

#define threadIdx (::mirrorscale::emulated_cuda::current_thread->thread)
#define blockIdx (::mirrorscale::emulated_cuda::current_thread->block)
#define blockDim (::mirrorscale::emulated_cuda::current_thread->block_size)
#define gridDim (::mirrorscale::emulated_cuda::current_thread->grid_size)
#define warpSize 32

namespace mirrorscale::emulated_cuda {

/// The dynamic shared memory of the block, exactly as many bytes as the launch asked for.
template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(current_thread->dynamic_shared);
}

}  // namespace mirrorscale::emulated_cuda

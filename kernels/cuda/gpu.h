#pragma once
// What a .cu file includes in place of cuda_runtime.h. The same file is compiled by nvcc, and by the host
// compiler against an emulated device for tests; the only #if between the two is here.
#if defined(MIRRORSCALE_EMULATED_CUDA)
#include "emulated_cuda/device.h"
#define MIRRORSCALE_UNROLL
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define MIRRORSCALE_UNROLL _Pragma("unroll")
#endif

#include <cstddef>
#include <tuple>
#include <utility>

namespace mirrorscale::kernels::cuda {

inline constexpr unsigned kWholeWarp = 0xffffffffU;

struct Launch {
  const char* name;
  std::size_t blocks;
  int threads;  // a block
  cudaStream_t stream;
  std::size_t shared_bytes = 0;  // for dynamic_shared
  unsigned columns = 1;          // of blocks: blockIdx.y
};

/// Enqueues a kernel. Argument types are those of its parameters. No blocks: no work.
template <class... Parameters, class... Arguments>
cudaError_t launch(const Launch& l, void (*kernel)(Parameters...), Arguments&&... arguments) {
  if (l.blocks == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>(l.blocks), l.columns), block(static_cast<unsigned>(l.threads));
#if defined(MIRRORSCALE_EMULATED_CUDA)
  return emulated_cuda::enqueue(grid, block, l.shared_bytes, l.stream, kernel, l.name,
                                std::tuple<Parameters...>(std::forward<Arguments>(arguments)...));
#else
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = l.shared_bytes;
  config.stream = l.stream;
  return cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
#endif
}

/// The shared memory that a launch asked for.
#if defined(MIRRORSCALE_EMULATED_CUDA)
using emulated_cuda::dynamic_shared;
#else
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char mirrorscale_dynamic_shared[];
  return reinterpret_cast<T*>(mirrorscale_dynamic_shared);
}
#endif

/// Blocks of `size` that cover `count`.
constexpr std::size_t blocks_of(std::size_t count, std::size_t size) {
  return (count + size - 1) / size;
}

/// This thread's number in a one-dimensional grid.
__device__ inline std::size_t global_thread() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ inline float4 load4(const float* from) {
  return *reinterpret_cast<const float4*>(from);
}
__device__ inline void store4(float4 value, float* to) {
  *reinterpret_cast<float4*>(to) = value;
}

}  // namespace mirrorscale::kernels::cuda

#pragma once

/// The one place of the conformance tests that knows which device they are built for: the same sources run on
/// a real GPU when nvcc compiles them and the real libraries are linked.
#if defined(MIRRORSCALE_EMULATED_CUDA)
#include "emulated_cuda/device.h"
#else
#include <cuda_runtime.h>
#endif

#include <cstddef>
#include <tuple>
#include <utility>

namespace mirrorscale::conformance {

struct Launch {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

template <class... P, class... A>
cudaError_t launch(const Launch& how, void (*kernel)(P...), A&&... arguments) {
#if defined(MIRRORSCALE_EMULATED_CUDA)
  return emulated_cuda::enqueue(how.grid, how.block, how.shared_bytes, how.stream, kernel,
                                __PRETTY_FUNCTION__, std::tuple<P...>(std::forward<A>(arguments)...));
#else
  cudaLaunchConfig_t config{};
  config.gridDim = how.grid;
  config.blockDim = how.block;
  config.dynamicSmemBytes = how.shared_bytes;
  config.stream = how.stream;
  return cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...);
#endif
}

#if defined(MIRRORSCALE_EMULATED_CUDA)
using emulated_cuda::dynamic_shared;
#else
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char bytes_of_the_block[];
  return reinterpret_cast<T*>(bytes_of_the_block);
}
#endif

}  // namespace mirrorscale::conformance

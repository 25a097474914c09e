// Nothing but FMA chains: what the multiprocessors can do at most.
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/launch.h"
#include "kernels/exact/number.h"

namespace mirrorscale::kernels::cuda {
namespace {

__global__ void __launch_bounds__(kPeakThreads) fma_peak_kernel(int rounds, float* sink) {
  float chains[kPeakChains];
  MIRRORSCALE_UNROLL for (int c = 0; c < kPeakChains; ++c) chains[c] =
      static_cast<float>(threadIdx.x) + static_cast<float>(c);
  for (int i = 0; i < rounds; ++i) {
    MIRRORSCALE_UNROLL for (int c = 0; c < kPeakChains; ++c) chains[c] =
        number::fma(chains[c], 0.999F, 0.001F);
  }
  float sum = 0;
  MIRRORSCALE_UNROLL for (int c = 0; c < kPeakChains; ++c) sum += chains[c];
  if (sum < 0) *sink = sum;  // never; but the compiler can't know
}

}  // namespace

cudaError_t launch_fma_peak(cudaStream_t stream, int threads, int rounds, float* sink) {
  return launch({.name = "fma_peak",
                 .blocks = static_cast<std::size_t>(threads / kPeakThreads),
                 .threads = kPeakThreads,
                 .stream = stream},
                &fma_peak_kernel, rounds, sink);
}

}  // namespace mirrorscale::kernels::cuda

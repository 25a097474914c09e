#pragma once
#include "kernels/cuda/place.h"

#include <cuda_runtime.h>

// All orderings between streams, and of the host after a stream, go through here: a test can take away any
// single one of them, by the place of its call.
namespace mirrorscale::kernels::cuda {

/// What is enqueued on `stream` now is what waits for `mark` are about from now on.
void set_mark(cudaEvent_t mark, cudaStream_t stream);
/// What is enqueued on `stream` from now on comes after what the mark is about.
void wait_for_mark(cudaStream_t stream, cudaEvent_t mark, Place where = Place::current());
/// Returns when what the mark is about is finished.
void wait_on_host(cudaEvent_t mark, Place where = Place::current());
/// What is enqueued on `later` from now on waits for what is on `earlier` now. `mark` is set for it and may
/// be used again at once.
void order_after(cudaStream_t later, cudaStream_t earlier, cudaEvent_t mark, Place where = Place::current());

}  // namespace mirrorscale::kernels::cuda

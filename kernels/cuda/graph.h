#pragma once
#include "kernels/backend.h"

#include <cuda_runtime.h>
#include <functional>
#include <memory>

namespace mirrorscale::kernels::cuda {

/// What `body` enqueues on `stream`, as a CUDA graph that is launched on the same stream. When the body
/// throws, nothing was enqueued and the stream works as before.
std::unique_ptr<RecordedOps> record_graph(cudaStream_t stream, const std::function<void()>& body);

}  // namespace mirrorscale::kernels::cuda

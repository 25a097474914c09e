#pragma once
#include "kernels/backend.h"

#include <memory>

namespace mirrorscale::kernels {

/// The backend on one GPU. Throws std::runtime_error where there is no such device (with the list of what is
/// there), or where this build has no CUDA; std::invalid_argument for options that contradict each other.
std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options);

/// cuBLASLt's workspace.
inline constexpr std::size_t kCudaWorkspaceBytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper

}  // namespace mirrorscale::kernels

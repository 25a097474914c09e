#pragma once
#include "kernels/cuda/place.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

namespace mirrorscale::kernels::cuda {

/// Throws for every status but success; `doing` says what we wanted ("wait for a stream"). A sticky error
/// (after which no call on the device succeeds) is a DeviceFailed that names the current device; no memory is
/// an OutOfMemory; any other is a std::runtime_error. Both say the code, its name and text, and where.
void check(cudaError_t status, const char* doing, Place where = Place::current());
void check(cublasStatus_t status, const char* doing, Place where = Place::current());

/// Throws only for a sticky error.
void require_device(cudaError_t status, const char* doing, Place where = Place::current());

/// For destructors: one line on standard error, nothing thrown. Silent after a sticky error, which has been
/// told already, and while the runtime shuts down.
void report(cudaError_t status) noexcept;
void report(cublasStatus_t status) noexcept;

}  // namespace mirrorscale::kernels::cuda

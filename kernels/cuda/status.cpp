#include "kernels/cuda/status.h"

#include "kernels/device_error.h"

#include <cstdio>
#include <stdexcept>
#include <string>

namespace mirrorscale::kernels::cuda {
namespace {

/// After these no call on the device succeeds until the process ends.
bool is_sticky(cudaError_t status) {
  switch (status) {
    case cudaErrorDevicesUnavailable:  // 46
    case cudaErrorECCUncorrectable:    // 214
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:  // 700
    case cudaErrorLaunchTimeout:   // 702
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:  // 710
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:  // 719
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown:  // 999
      return true;
    default:
      return false;
  }
}

/// "cuda:0", the device of this thread.
std::string device_name() {
  int ordinal = -1;
  cudaGetDevice(&ordinal);  // may say an earlier error again; the number is the thread's own
  return ordinal < 0 ? "cuda" : "cuda:" + std::to_string(ordinal);
}

std::string words(cudaError_t status) {
  return std::string(cudaGetErrorName(status)) + " (" + std::to_string(static_cast<int>(status)) +
         "): " + cudaGetErrorString(status);
}
std::string words(cublasStatus_t status) {
  return std::string(cublasLtGetStatusName(status)) + " (" + std::to_string(static_cast<int>(status)) +
         "): " + cublasLtGetStatusString(status);
}
std::string place(Place where) {
  const std::string file = where.file;
  auto start = file.rfind("/kernels/");  // the same text wherever the sources lie
  if (start == std::string::npos) start = file.rfind("/strategies/");
  return " [" + (start == std::string::npos ? file : file.substr(start + 1)) + ":" +
         std::to_string(where.line) + "]";
}

/// The sticky error of this thread's device, if it has one. Libraries have a runtime of their own, whose last
/// error ours doesn't know, and a kernel that faulted is told by the next call only; this one waits for
/// nothing.
cudaError_t state_of_device() {
  if (const cudaError_t known = cudaPeekAtLastError(); is_sticky(known)) return known;
  std::size_t free_bytes = 0, all_bytes = 0;
  return cudaMemGetInfo(&free_bytes, &all_bytes);
}

[[noreturn]] void throw_out_of_memory() {
  cudaGetLastError();  // told: it isn't to come up again at the next call
  std::size_t free_bytes = 0, all_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &all_bytes) != cudaSuccess) cudaGetLastError();
  throw OutOfMemory(device_name(), 0, all_bytes - free_bytes, free_bytes);
}

}  // namespace

void check(cudaError_t status, const char* doing, Place where) {
  if (status == cudaSuccess) return;
  const std::string text = std::string("could not ") + doing + ": " + words(status) + place(where);
  if (is_sticky(status)) throw DeviceFailed(device_name(), text);
  if (status == cudaErrorMemoryAllocation) throw_out_of_memory();
  cudaGetLastError();  // told: it isn't to come up again at the next call
  throw std::runtime_error(device_name() + ": " + text);
}

void require_device(cudaError_t status, const char* doing, Place where) {
  if (is_sticky(status)) check(status, doing, where);
}

void check(cublasStatus_t status, const char* doing, Place where) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string text = std::string("could not ") + doing + ": " + words(status) + place(where);
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw_out_of_memory();
  const cudaError_t cause = state_of_device();
  if (is_sticky(cause)) throw DeviceFailed(device_name(), text + "; " + words(cause));
  throw std::runtime_error(device_name() + ": " + text);
}

void report(cudaError_t status) noexcept {
  if (status == cudaSuccess || status == cudaErrorCudartUnloading || is_sticky(status)) return;
  std::fprintf(stderr, "mirrorscale: releasing a CUDA resource: %s (%d)\n", cudaGetErrorName(status),
               static_cast<int>(status));
}
void report(cublasStatus_t status) noexcept {
  if (status == CUBLAS_STATUS_SUCCESS || is_sticky(cudaPeekAtLastError())) return;
  std::fprintf(stderr, "mirrorscale: releasing a cuBLAS resource: %s (%d)\n", cublasLtGetStatusName(status),
               static_cast<int>(status));
}

}  // namespace mirrorscale::kernels::cuda

#include "emulated_cuda/launch.h"

#include "emulated_cuda/executor.h"
#include "emulated_cuda/stream.h"
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

namespace mirrorscale::emulated_cuda {
namespace {

constexpr std::size_t kSharedBytes = 48u << 10;
constexpr std::size_t kSharedBytesOptIn = 227u << 10;

/// Kernels that were allowed more dynamic shared memory, under System::lock.
std::map<const void*, std::size_t>& shared_limits() {
  static auto* const limits = new std::map<const void*, std::size_t>;
  return *limits;
}

std::size_t shared_limit(const void* kernel) {
  const Guard guard(everything().lock);
  const auto found = shared_limits().find(kernel);
  return found == shared_limits().end() ? kSharedBytes : found->second;
}

struct Owner {
  Launched launched;
  ~Owner() { launched.drop(launched.body); }
};

bool structure_is_allowed(const Argument& argument, int device) {
  const auto* bytes = static_cast<const unsigned char*>(argument.value);
  for (std::size_t at = 0; at + sizeof(void*) <= argument.bytes; at += sizeof(void*)) {
    const void* word = nullptr;
    std::memcpy(&word, bytes + at, sizeof word);
    if (word && is_foreign(device, word)) return false;
  }
  return true;
}

bool arguments_are_allowed(const Launched& launched, const char* name, int device) {
  const Unseen unseen;
  for (std::size_t i = 0; i < launched.argument_count; ++i) {
    const Argument& argument = launched.arguments[i];
    const void* pointer = nullptr;
    bool allowed = true;
    if (argument.kind == Argument::Kind::kPointer) {
      std::memcpy(&pointer, argument.value, sizeof pointer);
      allowed = !pointer || may_touch(device, pointer, 0);
    } else if (argument.kind == Argument::Kind::kStructure) {
      allowed = structure_is_allowed(argument, device);
    }
    if (allowed) continue;
    std::fprintf(stderr,
                 "emulated CUDA: kernel %s: argument %zu of %zu (%p) is no memory that device %d may touch\n",
                 name, i + 1, launched.argument_count, pointer, device);
    return false;
  }
  return true;
}

cudaError_t check_shape(dim3 grid, dim3 block) {
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > 1024 || block.z > 64) return cudaErrorInvalidConfiguration;
  if (!grid.x || !grid.y || !grid.z || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return cudaErrorInvalidConfiguration;
  return cudaSuccess;
}

}  // namespace

cudaError_t enqueue_erased(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t handle,
                           const char* name, const Launched& launched) {
  const Unseen unseen;
  const std::shared_ptr<Owner> owner(new Owner{launched});  // no copy: it drops the body once
  if (const auto state = usable()) return report(state);
  if (const auto wrong = check_shape(grid, block)) return report(wrong);
  if (shared_bytes > shared_limit(launched.kernel)) return report(cudaErrorInvalidValue);
  const Stream stream = resolve(handle, name);
  if (!stream || stream->device != current_device()) return report(cudaErrorInvalidResourceHandle);
  return report(submit(stream, make_operation(Kind::kKernel, name, [=] {
                         if (!arguments_are_allowed(owner->launched, name, current_device()))
                           return cudaErrorIllegalAddress;
                         static Word launches;
                         Grid what{grid, block, shared_bytes, owner->launched.call, owner->launched.body,
                                   name, 0};
                         if (everything().seeded.load())
                           what.seed = everything().seed * 0x9e3779b97f4a7c15 + launches.add(1) + 1;
                         run_grid(what);
                         return cudaSuccess;
                       })));
}

}  // namespace mirrorscale::emulated_cuda

using namespace mirrorscale::emulated_cuda;

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || static_cast<std::size_t>(value) > kSharedBytesOptIn) return report(cudaErrorInvalidValue);
  const Guard guard(everything().lock);
  shared_limits()[kernel] = static_cast<std::size_t>(value);
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->binaryVersion = attributes->ptxVersion = 90;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(shared_limit(kernel));
  return cudaSuccess;
}

/// By threads and dynamic shared memory alone: registers are not known here.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int block,
                                                                   std::size_t shared_bytes, unsigned) {
  if (const auto state = usable()) return report(state);
  if (block <= 0 || block > 1024) return report(cudaErrorInvalidValue);
  int most = 2048 / block;
  if (shared_bytes) most = std::min(most, static_cast<int>((228u << 10) / (shared_bytes + 1024)));
  *blocks = std::min(most, 32);
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block,
                                                          std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, block, shared_bytes, 0);
}

}  // extern "C"

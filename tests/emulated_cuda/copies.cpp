#include "emulated_cuda/capture.h"
#include "emulated_cuda/stream.h"
#include <cstdio>
#include <cstring>
#include <memory>

using namespace mirrorscale::emulated_cuda;

namespace {

/// Rows of `width` bytes; a plain copy is one row.
struct Copy {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch;
  std::size_t width;
  std::size_t height;

  std::size_t to_bytes() const { return height ? (height - 1) * to_pitch + width : 0; }
  std::size_t from_bytes() const { return height ? (height - 1) * from_pitch + width : 0; }
  void run() const {
    for (std::size_t row = 0; row < height; ++row)
      std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch,
                  width);
  }
};

Copy plain(void* to, const void* from, std::size_t bytes) {
  return {to, bytes, from, bytes, bytes, 1};
}

bool touches_device(const void* p) {
  return is_device_memory(p, 1);
}

/// Do the pointers fit the kind, and do they lie within one allocation each?
cudaError_t check(const Copy& copy, cudaMemcpyKind kind) {
  if (copy.width == 0 || copy.height == 0) return cudaSuccess;
  if (!copy.to || !copy.from) return cudaErrorInvalidValue;
  if (copy.height > 1 && (copy.width > copy.to_pitch || copy.width > copy.from_pitch))
    return cudaErrorInvalidPitchValue;
  const bool to_device = touches_device(copy.to), from_device = touches_device(copy.from);
  const bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault && (wants_to != to_device || wants_from != from_device)) {
    std::fprintf(stderr, "emulated CUDA: a copy of kind %d from %p to %p: the pointers are of other kinds\n",
                 kind, copy.from, copy.to);
    return cudaErrorInvalidValue;
  }
  if ((to_device && !is_device_memory(copy.to, copy.to_bytes())) ||
      (from_device && !is_device_memory(copy.from, copy.from_bytes()))) {
    std::fprintf(stderr, "emulated CUDA: a copy of %zu bytes from %p to %p leaves its allocation\n",
                 copy.to_bytes(), copy.from, copy.to);
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

/// With a seed, some copies of pageable memory read it during the call, as the real ones may; all others read
/// late.
bool reads_early(const Copy& copy) {
  if (!everything().seeded.load() || touches_device(copy.from) || is_pinned(copy.from)) return false;
  static Word turn;
  return (turn.add(1) + everything().seed) % 3 == 0;
}

Ref<Operation> make_copy(const Copy& copy, bool early) {
  auto operation = make_operation(Kind::kCopy, "a copy", {});
  operation->destination = copy.to;
  operation->bytes = copy.height == 1 ? copy.width : 0;
  if (early && copy.height == 1) {
    auto kept = std::make_shared<std::vector<char>>(copy.width);
    std::memcpy(kept->data(), copy.from, copy.width);
    operation->run = [copy, kept] {
      writes(copy.to, copy.width);
      std::memcpy(copy.to, kept->data(), copy.width);
      return cudaSuccess;
    };
    return operation;
  }
  const bool to_device = touches_device(copy.to), from_device = touches_device(copy.from);
  operation->run = [=] {
    // Freed since the call: the real copy would fault or overwrite the next owner.
    if ((to_device && !is_device_memory(copy.to, copy.to_bytes())) ||
        (from_device && !is_device_memory(copy.from, copy.from_bytes()))) {
      std::fprintf(stderr, "emulated CUDA: a copy from %p to %p runs after its memory was freed\n", copy.from,
                   copy.to);
      return cudaErrorIllegalAddress;
    }
    copy.run();
    return cudaSuccess;
  };
  return operation;
}

cudaError_t asynchronous(const Copy& copy, cudaMemcpyKind kind, cudaStream_t handle) {
  if (const auto state = usable()) return state;
  const Stream stream = resolve(handle, "cudaMemcpyAsync");
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (const auto wrong = check(copy, kind)) return wrong;
  if (copy.width == 0 || copy.height == 0) return cudaSuccess;
  const bool early = !stream->capture && reads_early(copy);
  return submit(stream, make_copy(copy, early));
}

/// On the legacy stream. Between host and device the host waits; within devices it does not, as the real
/// call.
cudaError_t synchronous(const Copy& copy, cudaMemcpyKind kind) {
  if (const auto state = usable()) return state;
  if (const auto refused = refuse_while_capturing()) return refused;
  if (const auto wrong = check(copy, kind)) return wrong;
  if (copy.width == 0 || copy.height == 0) return cudaSuccess;
  const Stream stream = legacy_stream();
  const bool on_devices = touches_device(copy.to) && touches_device(copy.from);
  if (const auto error = submit(stream, make_copy(copy, false))) return error;
  if (!on_devices) wait_for(*stream, "cudaMemcpy");
  return usable();
}

cudaError_t fill(void* to, int value, std::size_t bytes, const Stream& stream) {
  if (!may_touch(stream->device, to, bytes)) return cudaErrorInvalidValue;
  if (bytes == 0) return cudaSuccess;
  return submit(stream, make_operation(Kind::kMemset, "a memset", [=] {
                  if (!may_touch(current_device(), to, bytes)) return cudaErrorIllegalAddress;
                  std::memset(to, value, bytes);
                  return cudaSuccess;
                }));
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const Unseen unseen;
  return report(asynchronous(plain(to, from, bytes), kind, stream));
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Unseen unseen;
  return report(synchronous(plain(to, from, bytes), kind));
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  const Unseen unseen;
  return report(asynchronous({to, to_pitch, from, from_pitch, width, height}, kind, stream));
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  const Unseen unseen;
  return report(synchronous({to, to_pitch, from, from_pitch, width, height}, kind));
}

cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                cudaStream_t stream) {
  const Unseen unseen;
  return report(asynchronous(plain(to, from, bytes), cudaMemcpyDeviceToDevice, stream));
}

cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  const Unseen unseen;
  return report(synchronous(plain(to, from, bytes), cudaMemcpyDeviceToDevice));
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t handle) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  const Stream stream = resolve(handle, "cudaMemsetAsync");
  if (!stream) return report(cudaErrorInvalidResourceHandle);
  return report(fill(to, value, bytes, stream));
}

/// Does not wait: the real call returns before device memory is written.
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  if (const auto refused = refuse_while_capturing()) return report(refused);
  return report(fill(to, value, bytes, legacy_stream()));
}

}  // extern "C"

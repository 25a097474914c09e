#pragma once
#include "kernels/cuda/status.h"

#include <utility>

namespace mirrorscale::kernels::cuda {

/// Sole owner of a C handle; `destroy` gives it back.
template <class Raw, auto destroy>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Raw raw) noexcept : raw_(raw) {}
  ~Owned() { reset(); }
  Owned(Owned&& other) noexcept : raw_(std::exchange(other.raw_, Raw{})) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      raw_ = std::exchange(other.raw_, Raw{});
    }
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  Raw get() const noexcept { return raw_; }
  explicit operator bool() const noexcept { return raw_ != Raw{}; }
  void reset() noexcept {
    if (raw_ != Raw{}) report(destroy(std::exchange(raw_, Raw{})));
  }

 private:
  Raw raw_{};
};

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using BlasLt = Owned<cublasLtHandle_t, cublasLtDestroy>;

/// A stream that doesn't wait for the legacy default stream.
inline Stream make_stream() {
  cudaStream_t stream{};
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "make a stream");
  return Stream(stream);
}
/// For ordering only.
inline Event make_event(unsigned flags = cudaEventDisableTiming) {
  cudaEvent_t event{};
  check(cudaEventCreateWithFlags(&event, flags), "make an event");
  return Event(event);
}

}  // namespace mirrorscale::kernels::cuda

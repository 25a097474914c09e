#include "kernels/cuda/staging.h"

#include "kernels/cuda/order.h"

#include <algorithm>
#include <cstring>

namespace mirrorscale::kernels::cuda {

Staging::~Staging() {
  report(cudaStreamSynchronize(stream_));  // copies may still read the halves
}

Staging::Half& Staging::next() {
  Half& half = halves_[turn_++ % halves_.size()];
  if (!half.data) {
    half.data = make_pinned(kFloats);
    half.left = make_event();
  }
  return half;
}

void Staging::upload(const float* host, std::size_t count, float* device) {
  for (std::size_t done = 0; done < count;) {
    const std::size_t part = std::min(kFloats, count - done);
    Half& half = next();
    wait_on_host(half.left.get());
    std::memcpy(floats(half.data), host + done, part * sizeof(float));
    check(cudaMemcpyAsync(device + done, floats(half.data), part * sizeof(float), cudaMemcpyHostToDevice,
                          stream_),
          "copy to the device");
    set_mark(half.left.get(), stream_);
    done += part;
  }
}

void Staging::download(const float* device, std::size_t count, float* host) {
  check(cudaStreamSynchronize(stream_), "wait for the device");  // the halves are free too
  std::size_t fetched = 0;
  struct Part {
    Half* half;
    std::size_t count;
  };
  const auto fetch = [&]() -> Part {
    const std::size_t part = std::min(kFloats, count - fetched);
    if (part == 0) return {nullptr, 0};
    Half& half = next();
    check(cudaMemcpyAsync(floats(half.data), device + fetched, part * sizeof(float), cudaMemcpyDeviceToHost,
                          stream_),
          "copy from the device");
    set_mark(half.left.get(), stream_);
    fetched += part;
    return {&half, part};
  };
  for (Part now = fetch(); now.half != nullptr;) {
    const Part following = fetch();  // travels while the host copies
    wait_on_host(now.half->left.get());
    std::memcpy(host, floats(now.half->data), now.count * sizeof(float));
    host += now.count;
    now = following;
  }
}

}  // namespace mirrorscale::kernels::cuda

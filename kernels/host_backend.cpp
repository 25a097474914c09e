#include "kernels/host_backend.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mirrorscale::kernels {
namespace {

/// One slot: what is written is what is read.
class HostInputQueue final : public InputQueue {
 public:
  explicit HostInputQueue(Buffer batch) : batch_(std::move(batch)) {}
  int slots() const override { return 1; }
  float* fill(int) override { return batch_.get(); }
  void send(int, std::size_t) override {}
  const float* receive(int) override { return batch_.get(); }
  void done(int) override {}

 private:
  Buffer batch_;
};

}  // namespace

Buffer HostBackend::make_buffer(std::size_t count) {
  return memory_->allocate(count);
}
void HostBackend::upload(const float* host, std::size_t count, float* device) {
  copy(host, count, device);
}
void HostBackend::download(const float* device, std::size_t count, float* host) {
  copy(device, count, host);
}
void HostBackend::copy(const float* from, std::size_t count, float* to) {
  std::copy_n(from, count, to);
}
void HostBackend::clear(float* data, std::size_t count) {
  std::fill_n(data, count, 0.0F);
}

std::unique_ptr<InputQueue> HostBackend::make_input_queue(std::size_t count) {
  return std::make_unique<HostInputQueue>(make_buffer(count));
}

void HostBackend::mark(int number) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  marks_s_[static_cast<std::size_t>(number)] = std::chrono::duration<double>(now).count();
}

void HostBackend::row_weights(const float* weights, int rows, Column out) {
  for (int r = 0; r < rows; ++r) out[r] = weights == nullptr ? 1.0F : weights[r];
}

}  // namespace mirrorscale::kernels

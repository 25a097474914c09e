#pragma once
#include "kernels/backend.h"
#include "kernels/host_memory.h"

#include <array>
#include <memory>

namespace mirrorscale::kernels {

/// What backends that run on the host have in common: memory is the host's, and the clock too.
class HostBackend : public Backend {
 public:
  Buffer make_buffer(std::size_t count) override;
  std::size_t used_bytes() const override { return memory_->used_bytes(); }
  void upload(const float* host, std::size_t count, float* device) override;
  void download(const float* device, std::size_t count, float* host) override;
  void copy(const float* from, std::size_t count, float* to) override;
  void clear(float* data, std::size_t count) override;
  void synchronize() override {}
  std::unique_ptr<RecordedOps> record(const std::function<void()>&) override { return nullptr; }
  std::unique_ptr<InputQueue> make_input_queue(std::size_t count) override;
  void mark(int number) override;
  double marked_s(int number) override { return marks_s_[static_cast<std::size_t>(number)]; }
  void row_weights(const float* weights, int rows, Column out) override;

 private:
  const std::shared_ptr<HostMemory> memory_ = std::make_shared<HostMemory>();
  std::array<double, kMarks> marks_s_{};
};

}  // namespace mirrorscale::kernels

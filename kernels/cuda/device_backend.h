#pragma once
#include "kernels/backend.h"
#include "kernels/cuda/clock.h"
#include "kernels/cuda/devices.h"
#include "kernels/cuda/memory.h"
#include "kernels/cuda/owned.h"
#include "kernels/cuda/queue.h"
#include "kernels/cuda/staging.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace mirrorscale::kernels::cuda {

/// Ops of this backend work on whole rows.
template <class M>
void require_rows(const M& m) {
  if (m.data != nullptr && m.row_stride != padded(m.columns)) {
    throw std::logic_error("[cuda] a matrix of " + std::to_string(m.columns) +
                           " columns has a row stride of " + std::to_string(m.row_stride) +
                           "; this backend works on Layout::kRows");
  }
}
template <class... M>
void require_all_rows(const M&... matrices) {
  (require_rows(matrices), ...);
}

/// One device and one stream: the memory, order and time of a backend; its ops are CudaBackend's.
class DeviceBackend : public Backend {
 public:
  const BackendInfo& info() const override { return info_; }
  Queue queue() const { return {ordinal_, stream_.get()}; }

  Buffer make_buffer(std::size_t count) override;
  std::size_t used_bytes() const override { return bytes_->load(); }
  void upload(const float* host, std::size_t count, float* device) override;
  void download(const float* device, std::size_t count, float* host) override;
  void copy(const float* from, std::size_t count, float* to) override;
  void clear(float* data, std::size_t count) override;
  void synchronize() override;
  std::unique_ptr<RecordedOps> record(const std::function<void()>& body) override;
  std::unique_ptr<InputQueue> make_input_queue(std::size_t count) override;
  void mark(int number) override;
  double marked_s(int number) override;

 protected:
  DeviceBackend(const DeviceInfo& device, int ordinal, BackendInfo info);
  /// Calls of this thread go to this device from now on.
  void enter() const;
  template <class... M>
  void begin(const M&... matrices) const {
    require_all_rows(matrices...);
    enter();
  }

  /// Where `saved`, from which the derivative of `f` is computed, isn't looked at for kLinear.
  template <class... M>
  void begin_derived(Activation f, const ConstMatrix& saved, const M&... matrices) const {
    if (f != Activation::kLinear) require_rows(saved);
    begin(matrices...);
  }

  const int ordinal_;
  const BackendInfo info_;
  std::shared_ptr<DeviceMemory::Bytes> bytes_;         // of both
  std::shared_ptr<DeviceMemory> own_memory_, memory_;  // what make_buffer gives is memory_'s, all else not
  Stream stream_;
  std::optional<DeviceClock> clock_;
  std::optional<Staging> staging_;
};

}  // namespace mirrorscale::kernels::cuda

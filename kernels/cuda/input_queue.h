#pragma once
#include "kernels/cuda/memory.h"
#include "kernels/input_queue.h"

#include <array>
#include <cstddef>

namespace mirrorscale::kernels::cuda {

/// Two slots: while the device works on one batch, the next travels on a stream of its own.
class CudaInputQueue final : public InputQueue {
 public:
  static constexpr std::size_t kSlots = 2;
  /// Ops run on `compute` of the device `ordinal`; room for `count` floats a slot, from `memory`.
  CudaInputQueue(int ordinal, cudaStream_t compute, DeviceMemory& memory, std::size_t count);
  ~CudaInputQueue() override;

  int slots() const override { return static_cast<int>(kSlots); }
  float* fill(int slot) override;
  void send(int slot, std::size_t count) override;
  const float* receive(int slot) override;
  void done(int slot) override;

 private:
  struct Slot {
    PinnedFloats host;
    Buffer device;
    Event arrived, done;
  };
  Slot& at(int slot) { return slots_.at(static_cast<std::size_t>(slot)); }

  int ordinal_;
  cudaStream_t compute_;
  std::array<Slot, kSlots> slots_;
  Stream copies_;  // last: destroyed before what it copies between
};

}  // namespace mirrorscale::kernels::cuda

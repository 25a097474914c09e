#pragma once
#include <cstddef>

namespace mirrorscale::kernels {

/// Carries input rows from the host to a device, slot by slot, so that the next batch travels while the
/// device works on this one. On a backend that runs on the host both sides are the same memory. Used by one
/// thread: fill(slot), write, send(slot), receive(slot), enqueue ops on it, done(slot).
class InputQueue {
 public:
  virtual ~InputQueue() = default;
  /// 1 where nothing is gained by more, 2 where copies run beside the work.
  virtual int slots() const = 0;
  /// Host memory to write a batch into. Waits until the last batch of this slot has left it.
  virtual float* fill(int slot) = 0;
  /// Sends the first `count` floats, once the device is done with the slot's last batch. Returns at once.
  virtual void send(int slot, std::size_t count) = 0;
  /// The batch on the device; ops enqueued from now on come after its arrival.
  virtual const float* receive(int slot) = 0;
  /// The ops enqueued until now were the last that read the slot.
  virtual void done(int slot) = 0;
};

}  // namespace mirrorscale::kernels

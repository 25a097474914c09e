#pragma once
#include "kernels/backend.h"
#include "strategies/engine/loss.h"

#include <cstddef>
#include <memory>

namespace mirrorscale::strategies {

/// The rows of one replica on their way from a data set to its device, in buffers that are made once and
/// filled again and again. See kernels::InputQueue for slots.
class BatchBuffers {
 public:
  struct Shape {
    int rows = 0, features = 0, classes = 0, target_columns = 0;
    bool weighted = false;
    int labels = 1;  // of a row, and sample weights likewise
    bool operator==(const Shape&) const = default;
  };
  /// The first rows of a batch: matrices and columns that a data set fills, on the host.
  struct Filling {
    kernels::Matrix features, values;
    int* labels = nullptr;
    float* weights = nullptr;
  };
  /// The same on the device.
  struct Arrived {
    kernels::ConstMatrix features;
    Targets targets;
  };

  BatchBuffers() = default;
  /// Throws kernels::OutOfMemory.
  BatchBuffers(kernels::Backend& backend, const Shape& capacity);
  const Shape& capacity() const { return capacity_; }
  /// Bytes on the device.
  static std::size_t planned_bytes(const Shape& capacity, int slots);

  int slots() const { return queue_->slots(); }
  Filling fill(int slot, int rows);
  void send(int slot) { queue_->send(slot, size(capacity_)); }
  Arrived receive(int slot, int rows);
  void done(int slot) { queue_->done(slot); }

 private:
  static std::size_t size(const Shape& capacity);  // floats of a slot

  Shape capacity_;
  kernels::Layout layout_ = kernels::Layout::kPanels;
  std::unique_ptr<kernels::InputQueue> queue_;
};

}  // namespace mirrorscale::strategies

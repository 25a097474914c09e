#pragma once
#include "kernels/backend.h"
#include "kernels/cuda/owned.h"

#include <array>

namespace mirrorscale::kernels::cuda {

/// Moments of a stream in seconds of the steady clock.
class DeviceClock {
 public:
  /// Waits for `stream`, to learn what the steady clock says at a moment of the device.
  explicit DeviceClock(cudaStream_t stream);
  void mark(int number, cudaStream_t stream);
  /// Waits for the mark.
  double marked_s(int number);

 private:
  struct Moment {
    Event event;
    double s = 0;
    bool known = false;
  };
  Event base_;
  double base_s_ = 0;
  std::array<Moment, Backend::kMarks> moments_;
};

}  // namespace mirrorscale::kernels::cuda

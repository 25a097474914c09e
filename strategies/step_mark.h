#pragma once

namespace mirrorscale::strategies {

/// Moments of a training step that a backend notes (kernels::Backend::mark), in their order.
struct StepMark {
  enum : int { kStart, kInput, kForward, kBackward, kMet, kReduced, kUpdated, kEnd };
};

}  // namespace mirrorscale::strategies

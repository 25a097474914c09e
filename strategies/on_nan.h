#pragma once
#include <stdexcept>
#include <string_view>

namespace mirrorscale::strategies {

/// What a training does with a step whose loss or gradient is not finite. Decided on the values of the global
/// batch, after the reduction and before the update, so that all replicas decide alike.
enum class OnNan {
  kContinue,  // does not look: the update is applied
  kSkip,      // no update: weights, slots and the count of steps stay, and the step is counted as skipped
  kStop,      // no update, and the training ends: fit throws NonFiniteStep
};
/// "continue", "skip", "stop". Throws std::invalid_argument that lists the names.
OnNan on_nan_from(std::string_view name);

/// What was not finite in a step.
enum class NonFinite { kNone, kLoss, kGradient };

/// A training that OnNan::kStop has ended; the model is as the last good step left it.
class NonFiniteStep : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace mirrorscale::strategies

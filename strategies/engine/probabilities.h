#pragma once
#include "kernels/exact/scalar.h"
#include "strategies/engine/loss.h"

#include <algorithm>
#include <string>

namespace mirrorscale::strategies {

/// How a prediction becomes a probability.
enum class ProbabilityRule { kItself, kSigmoid, kSoftmax };

/// What the loss takes its predictions for.
inline ProbabilityRule probability_rule(const Loss& loss) {
  const std::string name = loss.name();
  if (name.find("_from_logits") == std::string::npos) return ProbabilityRule::kItself;
  return name.starts_with("binary") ? ProbabilityRule::kSigmoid : ProbabilityRule::kSoftmax;
}

/// visit(row, probability, is) for each row and column, where a column "is" when it is the row's label, or
/// its target is above 0.5. `y` and `targets` in host memory. One definition in float: the same on every
/// machine.
template <class Visit>
void each_pair(ProbabilityRule rule, kernels::ConstMatrix y, const Targets& targets, Visit visit) {
  for (int r = 0; r < y.rows; ++r) {
    float top = y.at(r, 0), sum = 0;  // of a softmax
    if (rule == ProbabilityRule::kSoftmax) {
      for (int c = 1; c < y.columns; ++c) top = std::max(top, y.at(r, c));
      for (int c = 0; c < y.columns; ++c) sum += kernels::exact::exp(y.at(r, c) - top);
    }
    for (int c = 0; c < y.columns; ++c) {
      float p = y.at(r, c);
      if (rule == ProbabilityRule::kSigmoid) p = kernels::exact::sigmoid(p);
      if (rule == ProbabilityRule::kSoftmax) p = kernels::exact::exp(p - top) / sum;
      visit(r, p, targets.labels != nullptr ? c == targets.labels[r] : targets.values.at(r, c) > 0.5F);
    }
  }
}

}  // namespace mirrorscale::strategies

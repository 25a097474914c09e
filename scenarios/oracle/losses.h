#pragma once
#include "scenarios/oracle/settings.h"
#include "scenarios/oracle/tracked.h"

namespace mirrorscale::scenarios::oracle {

/// Whether the loss takes labels.
constexpr bool is_sparse(Loss loss) {
  return loss == Loss::kSparseCrossEntropyFromLogits || loss == Loss::kSparseCrossEntropy;
}

/// losses: [rows, 1], weight * loss of each row. gradient: of their sum by the prediction; may be null.
void losses_of(Loss loss, const ErrorModel& errors, const Tracked& prediction, const Batch& batch,
               Tracked& losses, Tracked* gradient);

}  // namespace mirrorscale::scenarios::oracle

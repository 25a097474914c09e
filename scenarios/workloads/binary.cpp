#include "scenarios/workloads/registry.h"

namespace mirrorscale::scenarios {

Workload binary_workload() {
  return {.name = "binary",
          .description = "dense 32 gelu, sigmoid; binary cross-entropy from probabilities",
          .data = "two-clusters",
          .optimizer = "adam",
          .loss = "binary_crossentropy",
          .metrics = {"accuracy"},
          .layers = [](const RowShape& shape) -> std::vector<strategies::LayerPtr> {
            const int outputs = require_targets("binary", shape).outputs();
            return {strategies::dense(32, "gelu"), strategies::dense(outputs, "sigmoid")};
          }};
}

}  // namespace mirrorscale::scenarios

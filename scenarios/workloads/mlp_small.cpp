#include "scenarios/workloads/registry.h"

namespace mirrorscale::scenarios {

Workload mlp_small_workload() {
  return {.name = "mlp-small",
          .description =
              "dense 64 relu, 32 tanh, classes; sparse cross-entropy from logits; small enough for tests",
          .data = "clusters",
          .optimizer = "adam",
          .loss = "sparse_categorical_crossentropy_from_logits",
          .metrics = {"accuracy"},
          .layers = [](const RowShape& shape) -> std::vector<strategies::LayerPtr> {
            const int outputs = require_classes("mlp-small", shape).outputs();
            return {strategies::dense(64, "relu"), strategies::dense(32, "tanh"), strategies::dense(outputs)};
          }};
}

}  // namespace mirrorscale::scenarios

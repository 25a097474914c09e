#include "scenarios/workloads/registry.h"

namespace mirrorscale::scenarios {

Workload mlp_workload() {
  return {
      .name = "mlp",
      .description = "dense 512 relu, 512 relu, classes; sparse cross-entropy from logits",
      .data = "fashion-mnist",
      .optimizer = "adam",
      .loss = "sparse_categorical_crossentropy_from_logits",
      .metrics = {"accuracy"},
      .layers = [](const RowShape& shape) -> std::vector<strategies::LayerPtr> {
        const int outputs = require_classes("mlp", shape).outputs();
        return {strategies::dense(512, "relu"), strategies::dense(512, "relu"), strategies::dense(outputs)};
      }};
}

}  // namespace mirrorscale::scenarios

#include "scenarios/workloads/registry.h"

namespace mirrorscale::scenarios {

Workload softmax_regression_workload() {
  return {.name = "softmax-regression",
          .description = "one dense layer with softmax; sparse cross-entropy from probabilities",
          .data = "fashion-mnist",
          .optimizer = "adam",
          .loss = "sparse_categorical_crossentropy",
          .metrics = {"accuracy"},
          .layers = [](const RowShape& shape) -> std::vector<strategies::LayerPtr> {
            const int outputs = require_classes("softmax-regression", shape).outputs();
            return {strategies::dense(outputs, "softmax")};
          }};
}

}  // namespace mirrorscale::scenarios

#include "scenarios/workloads/registry.h"

namespace mirrorscale::scenarios {

Workload regression_workload() {
  return {.name = "regression",
          .description = "one dense layer, mean squared error",
          .data = "line",
          .optimizer = "sgd:0.1",
          .loss = "mse",
          .metrics = {"mae"},
          .layers = [](const RowShape& shape) -> std::vector<strategies::LayerPtr> {
            const int outputs = require_targets("regression", shape).outputs();
            return {strategies::dense(outputs)};
          }};
}

}  // namespace mirrorscale::scenarios

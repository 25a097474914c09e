#include "scenarios/workloads/registry.h"
#include "strategies/engine/convolution.h"
#include "strategies/engine/pooling.h"
#include "strategies/engine/reshape.h"

namespace mirrorscale::scenarios {

Workload lenet_workload() {
  return {.name = "lenet",
          .description =
              "LeNet-5: conv 6 5x5 tanh, pool, conv 16 5x5 tanh, pool, dense 120, 84, classes; "
              "averages in its pools; sparse cross-entropy from logits",
          .data = "fashion-mnist",
          .optimizer = "adam",
          .loss = "sparse_categorical_crossentropy_from_logits",
          .metrics = {"accuracy"},
          .layers = [](const RowShape& shape) -> std::vector<strategies::LayerPtr> {
            using namespace strategies;
            const int outputs = require_images("lenet", shape).outputs();
            return {conv2d({.filters = 6, .kernel = 5, .padding = "same", .activation = "tanh"}),
                    average_pool(),
                    conv2d({.filters = 16, .kernel = 5, .activation = "tanh"}),
                    average_pool(),
                    flatten(),
                    dense(120, "tanh"),
                    dense(84, "tanh"),
                    dense(outputs)};
          }};
}

}  // namespace mirrorscale::scenarios

#include "scenarios/workloads/registry.h"
#include "strategies/engine/convolution.h"
#include "strategies/engine/pooling.h"
#include "strategies/engine/reshape.h"

namespace mirrorscale::scenarios {

Workload cnn_workload() {
  return {.name = "cnn",
          .description =
              "conv 32 3x3 relu, pool, conv 64 3x3 relu, pool, dense 128 relu, classes; sparse "
              "cross-entropy from logits",
          .data = "fashion-mnist",
          .optimizer = "adam",
          .loss = "sparse_categorical_crossentropy_from_logits",
          .metrics = {"accuracy"},
          .layers = [](const RowShape& shape) -> std::vector<strategies::LayerPtr> {
            using namespace strategies;
            const int outputs = require_images("cnn", shape).outputs();
            const auto conv = [](int filters) {
              return conv2d({.filters = filters, .kernel = 3, .padding = "same", .activation = "relu"});
            };
            return {conv(32),  max_pool(),         conv(64),      max_pool(),
                    flatten(), dense(128, "relu"), dense(outputs)};
          }};
}

}  // namespace mirrorscale::scenarios

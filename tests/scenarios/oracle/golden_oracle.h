#pragma once
#include "scenarios/oracle/trainer.h"
#include "tests/support/golden.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace mirrorscale::tests {

/// The oracle at the start of a golden run.
inline scenarios::oracle::Trainer golden_trainer(const GoldenRun& run,
                                                 scenarios::oracle::ErrorModel errors = {}) {
  namespace oracle = scenarios::oracle;
  std::vector<oracle::Dense> layers;
  for (const GoldenLayer& l : run.layers) {
    layers.push_back({.inputs = l.inputs,
                      .outputs = l.outputs,
                      .activation = oracle::activation_from(l.activation),
                      .l2 = l.l2});
  }
  oracle::Settings settings{.loss = run.targets.empty() ? oracle::Loss::kSparseCrossEntropyFromLogits
                                                        : oracle::Loss::kMeanSquaredError,
                            .global_clip_norm = run.optimizer.global_clip_norm,
                            .errors = errors};
  const GoldenOptimizer& o = run.optimizer;
  if (o.name == "sgd") {
    settings.optimizer = oracle::Sgd{.rate = o.rate, .momentum = o.momentum, .nesterov = o.nesterov};
  } else if (o.name == "adagrad") {
    settings.optimizer =
        oracle::Adagrad{.rate = o.rate, .initial = o.initial_accumulator, .epsilon = o.epsilon};
  } else {
    settings.optimizer = oracle::Adam{.rate = o.rate,
                                      .beta1 = o.beta1,
                                      .beta2 = o.beta2,
                                      .epsilon = o.epsilon,
                                      .weight_decay = o.weight_decay,
                                      .correction_beta1 = o.correction_beta1,
                                      .correction_beta2 = o.correction_beta2};
  }
  return {layers, settings, run.w0};
}

/// Rows first .. first + batch - 1, fewer at the end.
inline scenarios::oracle::Batch golden_batch(const GoldenRun& run, std::size_t first) {
  const std::size_t rows = std::min(run.batch, run.rows - first), inputs = run.layers.front().inputs;
  scenarios::oracle::Batch batch{.rows = rows, .x = std::span(run.x).subspan(first * inputs, rows * inputs)};
  if (run.targets.empty()) {
    batch.labels = std::span(run.labels).subspan(first, rows);
  } else {
    batch.targets = std::span(run.targets).subspan(first, rows);
  }
  return batch;
}

}  // namespace mirrorscale::tests

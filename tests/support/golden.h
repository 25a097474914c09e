#pragma once
#include "tests/support/npy.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

/// The training runs of tests/golden (README there). A test that uses this is made with mirrorscale_add_test,
/// which defines MIRRORSCALE_TESTS_DIR.
namespace mirrorscale::tests {

struct GoldenLayer {
  std::size_t inputs = 0, outputs = 0;
  std::string activation;  // "linear", "relu", "tanh"
  double l2 = 0;           // l2 * sum of kernel^2 is added to the loss
};

/// `name`: "sgd", "adam", "adamw", "adagrad". Numbers are what the run computed with: where Keras rounds a
/// setting to float32, the rounded one. betas as they enter the moving averages; correction_betas in the bias
/// correction.
struct GoldenOptimizer {
  std::string name;
  double rate = 0, momentum = 0;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;
  double correction_beta1 = 0.9F, correction_beta2 = 0.999F;
  double weight_decay = 0, initial_accumulator = 0.1F, global_clip_norm = 0;
};

struct GoldenRun {
  std::string name, loss_name;  // "sparse_categorical_crossentropy" (from logits), "mse"
  std::vector<GoldenLayer> layers;
  GoldenOptimizer optimizer;
  std::size_t rows = 0, batch = 0, epochs = 0;
  std::vector<double> x;                        // [rows, inputs]
  std::vector<int> labels;                      // [rows], or empty
  std::vector<double> targets;                  // [rows, outputs], or empty
  std::vector<std::vector<double>> w0, w1, wT;  // kernel, bias of each layer in turn
  std::vector<double> loss;                     // of each step
};

inline std::vector<std::string> golden_names() {
  return {"mlp_sgd",     "mlp_nesterov",   "mlp_adam",        "mlp_adamw",
          "mlp_adagrad", "mlp_short_last", "mlp_clip_global", "regression_mse_l2"};
}

inline GoldenRun golden_settings(const std::string& name) {
  GoldenRun run;
  run.name = name;
  run.loss_name = "sparse_categorical_crossentropy";
  run.layers = {{20, 16, "relu"}, {16, 5, "linear"}};
  run.rows = 192;
  run.batch = 64;
  run.epochs = 4;
  if (name == "mlp_sgd") {
    run.optimizer = {.name = "sgd", .rate = 0.1};
  } else if (name == "mlp_nesterov") {
    run.optimizer = {.name = "sgd", .rate = 0.05, .momentum = 0.9F, .nesterov = true};
  } else if (name == "mlp_adam") {
    run.optimizer = {.name = "adam", .rate = 0.01};
  } else if (name == "mlp_adamw") {
    run.optimizer = {.name = "adamw", .rate = 0.01, .weight_decay = 0.05F};
  } else if (name == "mlp_adagrad") {
    run.optimizer = {.name = "adagrad", .rate = 0.1};
  } else if (name == "mlp_short_last") {
    run.optimizer = {.name = "sgd", .rate = 0.1};
    run.rows = 150;
    run.epochs = 3;
  } else if (name == "mlp_clip_global") {
    run.optimizer = {.name = "sgd", .rate = 0.5, .global_clip_norm = 0.2};
  } else if (name == "regression_mse_l2") {
    run.loss_name = "mse";
    run.layers = {{8, 8, "tanh", 0.01F}, {8, 1, "linear"}};
    run.optimizer = {.name = "sgd", .rate = 0.05};
    run.rows = 128;
    run.batch = 32;
    run.epochs = 3;
  } else {
    throw std::invalid_argument("no golden run '" + name + "'");
  }
  return run;
}

inline GoldenRun load_golden(const std::string& name) {
  GoldenRun run = golden_settings(name);
  const std::string folder = std::string(MIRRORSCALE_TESTS_DIR) + "/golden/" + name + "/";
  run.x = read_npy<double>(folder + "x.npy");
  if (run.loss_name == "mse") {
    run.targets = read_npy<double>(folder + "y.npy");
  } else {
    for (const std::int64_t label : read_npy<std::int64_t>(folder + "y.npy")) {
      run.labels.push_back(static_cast<int>(label));
    }
  }
  for (std::size_t i = 0; i < 2 * run.layers.size(); ++i) {
    const std::string array = "." + std::to_string(i) + ".npy";
    run.w0.push_back(read_npy<double>(folder + "w0" + array));
    run.w1.push_back(read_npy<double>(folder + "w1" + array));
    run.wT.push_back(read_npy<double>(folder + "wT" + array));
  }
  run.loss = read_npy<double>(folder + "loss.npy");
  return run;
}

}  // namespace mirrorscale::tests

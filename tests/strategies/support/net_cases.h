#pragma once
#include "strategies/engine/convolution.h"
#include "strategies/engine/pooling.h"
#include "strategies/engine/reshape.h"
#include "tests/strategies/support/data.h"
#include "tests/strategies/support/recipe.h"

#include <ostream>
#include <string>
#include <vector>

namespace mirrorscale::strategies::testing {

/// A small net with data that fit it.
struct NetCase {
  std::string name;
  Recipe recipe;
  DataShape data;  // all but the rows
};

inline void PrintTo(const NetCase& net, std::ostream* out) {
  *out << net.name;
}

/// Every optimizer, activation, loss, penalty and clipping, nets with odd widths, with and without biases and
/// sample weights.
inline std::vector<NetCase> net_cases() {
  const auto optimizer = [](const char* name) { return [name] { return make_optimizer(name); }; };
  const auto plain = [](std::vector<std::pair<int, std::string>> layers) {
    return [layers] {
      std::vector<LayerPtr> made;
      for (const auto& [units, function] : layers) {
        made.push_back(units > 0 ? dense(units, function) : activation(function));
      }
      return made;
    };
  };
  const auto penalised = [](const char* function, int outputs, const char* last) {
    return [=] {
      return std::vector<LayerPtr>{
          dense(9, DenseOptions{.activation = function,
                                .kernel_penalty = {.l1 = 0.001F, .l2 = 0.01F},
                                .bias_penalty = {.l2 = 0.02F}}),
          dense(18, DenseOptions{.activation = function, .use_bias = false}),
          dense(outputs, DenseOptions{.activation = last, .kernel_penalty = {.l1 = 0.002F}})};
    };
  };
  return {
      {"relu_logits_sgd",
       {.features = 7,
        .layers = plain({{19, "relu"}, {5, "linear"}}),
        .optimizer = optimizer("sgd:0.1"),
        .loss = make_loss("sparse_categorical_crossentropy_from_logits"),
        .metrics = {"accuracy"}},
       {.features = 7, .classes = 5}},
      {"gelu_softmax_adam_weighted",
       {.features = 7,
        .layers = plain({{17, "gelu"}, {5, "softmax"}}),
        .optimizer = optimizer("adam:0.01"),
        .loss = make_loss("sparse_categorical_crossentropy"),
        .metrics = {"sparse_categorical_accuracy", "top_k=2", "auc"}},
       {.features = 7, .classes = 5, .weighted = true}},
      {"tanh_mse_momentum",
       {.features = 33,
        .layers = plain({{5, "tanh"}, {3, "linear"}}),
        .optimizer = optimizer("momentum:0.05"),
        .loss = make_loss("mse"),
        .metrics = {"mae"}},
       {.features = 33, .target_columns = 3}},
      {"sigmoid_mae_nesterov_weighted",
       {.features = 3,
        .layers = plain({{5, "sigmoid"}, {17, "sigmoid"}, {1, "linear"}}),
        .optimizer = optimizer("nesterov:0.05"),
        .loss = make_loss("mae"),
        .metrics = {"mse", "mae"}},
       {.features = 3, .target_columns = 1, .weighted = true}},
      {"sigmoid_binary_rmsprop",
       {.features = 5,
        .layers = plain({{4, "tanh"}, {2, "sigmoid"}}),
        .optimizer = optimizer("rmsprop:0.01"),
        .loss = make_loss("binary_crossentropy:label_smoothing=0.1"),
        .metrics = {"binary_accuracy"}},
       {.features = 5, .target_columns = 2, .zero_or_one = true}},
      {"binary_logits_penalties_adam",
       {.features = 5,
        .layers = penalised("gelu", 1, "linear"),
        .optimizer = optimizer("adam:0.01"),
        .loss = make_loss("binary_crossentropy_from_logits:label_smoothing=0.2"),
        .metrics = {"accuracy"}},
       {.features = 5, .target_columns = 1, .weighted = true, .zero_or_one = true}},
      {"penalties_adagrad_clipped_together",
       {.features = 16,
        .layers = penalised("sigmoid", 2, "tanh"),
        .optimizer = optimizer("adagrad:0.05:clip_global_norm=0.05"),
        .loss = make_loss("mse")},
       {.features = 16, .target_columns = 2}},
      {"activation_layers_amsgrad_clipped",
       {.features = 6,
        .layers =
            plain({{0, "tanh"}, {8, "linear"}, {0, "gelu"}, {0, "relu"}, {4, "linear"}, {0, "softmax"}}),
        .optimizer = optimizer("amsgrad:0.01:clip_norm=0.05"),
        .loss = make_loss("sparse_categorical_crossentropy:label_smoothing=0.1"),
        .metrics = {"accuracy"}},
       {.features = 6, .classes = 4}},
      {"wide_adamw_clipped",  // slices of many chunks, cut anywhere
       {.features = 40,
        .layers = plain({{70, "relu"}, {50, "tanh"}, {10, "linear"}}),
        .optimizer = optimizer("adamw:0.01:clip_global_norm=0.2"),
        .loss = make_loss("sparse_categorical_crossentropy_from_logits:label_smoothing=0.1"),
        .metrics = {"accuracy", "precision", "confusion"}},
       {.features = 40, .classes = 10}},
      {"softmax_inside_rmsprop_clipped",
       {.features = 6,
        .layers = plain({{18, "softmax"}, {3, "relu"}, {2, "linear"}}),
        .optimizer = optimizer("rmsprop:0.01:centered=1:momentum=0.5:clip_value=0.01"),
        .loss = make_loss("mse"),
        .metrics = {"mse"}},
       {.features = 6, .target_columns = 2}},
      {"convolutions_pools_momentum",
       {.features = {9, 8, 2},
        .layers =
            [] {
              return std::vector<LayerPtr>{
                  conv2d(
                      {.filters = 5, .kernel = {3, 2}, .stride = 2, .padding = "same", .activation = "gelu"}),
                  max_pool(2, 1),
                  conv2d({.filters = 4, .kernel = 1, .activation = "relu", .use_bias = false}),
                  conv2d(
                      {.filters = 17, .kernel = 2, .dilation = 2, .padding = "same", .activation = "tanh"}),
                  residual({conv2d({.filters = 17, .kernel = 3, .padding = "same", .groups = 17})}),
                  average_pool(2, 1, "same"),
                  reshape({1, 6, 34}),
                  conv2d({.filters = 3, .kernel = {1, 3}}),
                  flatten(),
                  dense(4)};
            },
        .optimizer = optimizer("momentum:0.05"),
        .loss = make_loss("sparse_categorical_crossentropy_from_logits"),
        .metrics = {"accuracy"}},
       {.features = 144, .classes = 4, .weighted = true}},
      {"normalised_lamb_averaged",
       {.features = 40,
        .layers =
            [] {
              return std::vector<LayerPtr>{dense(70, "relu"), layer_norm(), dense(18, "tanh"), dense(10)};
            },
        .optimizer = optimizer("lamb:0.02:weight_decay=0.1:ema=0.9:ema_overwrite=3"),
        .loss = make_loss("sparse_categorical_crossentropy_from_logits"),
        .metrics = {"accuracy"}},
       {.features = 40, .classes = 10, .weighted = true}},
      {"penalties_lars_clipped_together",
       {.features = 16,
        .layers = penalised("sigmoid", 2, "tanh"),
        .optimizer = optimizer("lars:2:trust=0.1:exclude=none:clip_global_norm=0.05"),
        .loss = make_loss("mse")},
       {.features = 16, .target_columns = 2}},
      {"residuals_with_and_without_shortcut_adam",
       {.features = 6,
        .layers =
            [] {
              return std::vector<LayerPtr>{
                  residual({dense(9, "gelu"), residual({dense(4, "relu"), dense(9)})},
                           {.shortcut = {dense(9, "tanh")}, .activation = "gelu"}),
                  residual({dense(17, "tanh"), dense(9)}, {.activation = "relu"}), dense(3)};
            },
        .optimizer = optimizer("adam:0.01"),
        .loss = make_loss("sparse_categorical_crossentropy_from_logits"),
        .metrics = {"accuracy"}},
       {.features = 6, .classes = 3, .weighted = true}},
  };
}

inline DatasetPtr data_of(const NetCase& net, int rows) {
  DataShape shape = net.data;
  shape.rows = rows;
  return random_data(shape);
}

}  // namespace mirrorscale::strategies::testing

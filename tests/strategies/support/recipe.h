#pragma once
#include "strategies/model.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::strategies::testing {

/// How a model is made, so that the same one can be made under several strategies.
struct Recipe {
  Shape features = 1;
  std::function<std::vector<LayerPtr>()> layers;
  std::function<OptimizerPtr()> optimizer = [] { return sgd(); };
  LossPtr loss = mean_squared_error();
  std::vector<std::string> metrics = {};
  std::uint64_t seed = 1;
};

inline std::unique_ptr<Model> build(const Strategy& strategy, const Recipe& recipe) {
  const Scope scope = strategy.scope();
  auto model = std::make_unique<Model>(recipe.features, recipe.layers(), ModelOptions{.seed = recipe.seed});
  std::vector<MetricPtr> metrics;
  std::vector<CountMetricPtr> counted;
  for (const std::string& name : recipe.metrics) {
    if (is_count_metric(name)) {
      counted.push_back(make_count_metric(name, *recipe.loss));
    } else {
      metrics.push_back(make_metric(name, *recipe.loss));
    }
  }
  model->compile(recipe.optimizer(), recipe.loss, metrics, counted);
  return model;
}

/// Values of the parameter or slot `name`; empty when there is none.
inline std::vector<float> values_of(const std::vector<NamedArray>& arrays, std::string_view name) {
  for (const NamedArray& array : arrays) {
    if (array.name == name) return array.values;
  }
  return {};
}

/// y = x · w, all weights `initial`.
inline std::vector<LayerPtr> line(float initial, bool use_bias = false, float bias = 0) {
  return {dense(1, DenseOptions{.use_bias = use_bias,
                                .kernel_initializer = {Initializer::Kind::kConstant, initial},
                                .bias_initializer = {Initializer::Kind::kConstant, bias}})};
}

}  // namespace mirrorscale::strategies::testing

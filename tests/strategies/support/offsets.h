#pragma once
#include "tests/strategies/support/data.h"
#include "tests/strategies/support/recipe.h"
#include "tests/strategies/support/toy_parts.h"

#include <memory>
#include <vector>

/// A model whose gradients are given: y = x + v under a linear loss.
namespace mirrorscale::strategies::testing {

using Values = std::vector<float>;

/// The values of the first parameter.
inline Values first(const Model& model) {
  return model.weights()[0].values;
}

inline Recipe offsets(const Values& initial) {
  Recipe recipe;
  recipe.features = static_cast<int>(initial.size());
  recipe.layers = [] { return std::vector<LayerPtr>{std::make_shared<Offset>(0.0F, true)}; };
  recipe.loss = std::make_shared<LinearLoss>();
  return recipe;
}

/// Rows of zeros whose loss has the given gradients.
inline DatasetPtr gradients(int columns, const Values& rows) {
  return given_data(columns, Values(rows.size()), columns, rows);
}

inline FitOptions in_order(int batch, int epochs = 1) {
  return {.epochs = epochs, .global_batch = batch, .shuffle = false};
}

}  // namespace mirrorscale::strategies::testing

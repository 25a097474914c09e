#pragma once
#include "strategies/input/dataset.h"
#include "strategies/model.h"
#include "strategies/strategy.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::scenarios {

/// What the rows of a data set look like to a model.
struct RowShape {
  strategies::Shape in;
  int classes = 0, target_columns = 0;
  /// Numbers a model has to predict for a row: a score a class, or the targets.
  int outputs() const { return classes > 0 ? classes : target_columns; }
};
RowShape shape_of(const strategies::Dataset& dataset);

/// A model, a loss and the settings it is usually trained with, on a data set it is usually trained on.
struct Workload {
  std::string name, description;
  std::string data;       // see data_source.h
  std::string optimizer;  // see strategies::make_optimizer
  std::string loss;       // see strategies::make_loss
  std::vector<std::string> metrics;
  /// Throws std::invalid_argument when the model can't be made for such rows.
  std::function<std::vector<strategies::LayerPtr>(const RowShape&)> layers;
  /// What a row is to the first layer; none: what the data say. Throws as layers does.
  std::function<strategies::Shape(const RowShape&)> input = {};
  strategies::Shape input_of(const RowShape& shape) const { return input ? input(shape) : shape.in; }
};

/// All built-in workloads, by name.
const std::vector<Workload>& workloads();
/// By its name, or read from the file that is named (see model_file.h), once. Throws std::invalid_argument
/// that lists the names, and as read_model_file does.
const Workload& find_workload(std::string_view name);

/// How a workload's model is made, where it departs from the usual.
struct ModelSettings {
  std::string optimizer;  // empty: the workload's
  std::uint64_t seed = 1;
  int global_batch = 0;                   // see strategies::OptimizerContext
  std::vector<std::string> metrics = {};  // beside the workload's own
  double label_smoothing = 0;             // of the workload's loss, where not 0
};
/// The workload's model for such data, built and compiled in the scope of `strategy`. Throws
/// std::invalid_argument when the data don't fit the workload.
strategies::Model make_model(const Workload& workload, const strategies::Dataset& data,
                             const strategies::Strategy& strategy, const ModelSettings& settings = {});

}  // namespace mirrorscale::scenarios

#include "scenarios/model_file/model_file.h"

#include "harness/record/sha256.h"
#include "scenarios/model_file/layer_maker.h"
#include "strategies/engine/loss.h"
#include "strategies/engine/metric.h"
#include "strategies/engine/network.h"
#include "strategies/engine/optimizer.h"

#include <memory>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

TomlFile file_of(const std::string& path) {
  return {"model", path};
}

/// Builds networks of the first layer, the first two, and so on until one is refused, and says which.
[[noreturn]] void refuse_layer(std::vector<ModelTable> tables, const strategies::Shape& input, int outputs,
                               const std::string& why) {
  std::string in = strategies::to_string(input);
  for (std::size_t count = 1; count <= tables.size(); ++count) {
    std::vector<strategies::LayerPtr> layers;
    for (std::size_t i = 0; i < count; ++i) layers.push_back(make_layer(tables[i], outputs));
    try {
      in = strategies::to_string(strategies::Network(input, layers).out());
    } catch (const std::invalid_argument& error) {
      tables[count - 1].refuse("layer " + std::to_string(count) + ", for an input of " + in + ": " +
                               error.what());
    }
  }
  tables.back().refuse(why);
}

/// What the file says a row of the data is: height, width, channels.
strategies::Shape input_for(const std::string& path, const toml::table& root, const RowShape& shape) {
  ModelTable file(file_of(path), root);
  const std::vector<int> sizes = file.counts("input");
  if (sizes.empty()) return shape.in;
  if (sizes.size() != 3) file.refuse("'input' needs three sizes: height, width, channels");
  const strategies::Shape input(sizes[0], sizes[1], sizes[2]);
  if (input.size() == shape.in.size()) return input;
  file.refuse("'input' is " + strategies::to_string(input) + ", " + std::to_string(input.size()) +
              " values; a row of the data has " + std::to_string(shape.in.size()));
}

std::vector<strategies::LayerPtr> layers_for(const std::string& path, const toml::table& root,
                                             const RowShape& shape) {
  ModelTable file(file_of(path), root);
  const std::vector<ModelTable> tables = file.tables("layers");
  const strategies::Shape input = input_for(path, root, shape);
  std::vector<strategies::LayerPtr> layers, tried;
  for (const ModelTable& table : tables) {
    layers.push_back(make_layer(table, shape.outputs()));
    tried.push_back(make_layer(table, shape.outputs()));
  }
  try {
    const strategies::Network network(input, tried);
    if (network.outputs() != shape.outputs()) {
      ModelTable(tables.back())
          .refuse("the last layer makes " + strategies::to_string(network.out()) + "; the data have " +
                  std::to_string(shape.outputs()) + " outputs to predict: units = \"outputs\"");
    }
  } catch (const std::invalid_argument& error) {
    if (std::string(error.what()).rfind("[model] " + path, 0) == 0) throw;
    refuse_layer(tables, input, shape.outputs(), error.what());
  }
  return layers;
}

/// Calls `make`, and puts the file's name before what it refuses.
template <class Make>
void check(ModelTable& table, Make make) {
  try {
    make();
  } catch (const std::invalid_argument& error) {
    table.refuse(error.what());
  }
}

}  // namespace

bool names_a_model_file(std::string_view workload) {
  return workload.ends_with(".toml");
}

std::string model_file_hash(const std::string& path) {
  return harness::sha256(file_of(path).content());
}

Workload read_model_file(const std::string& path) {
  const auto root = std::make_shared<const toml::table>(file_of(path).parse());
  ModelTable table(file_of(path), *root);
  Workload workload;
  workload.name = path;
  workload.description = table.text("description", "a model from a file");
  workload.data = table.text("data", "fashion-mnist");
  workload.optimizer = table.text("optimizer", "adam");
  workload.loss = table.text("loss", "sparse_categorical_crossentropy_from_logits");
  workload.metrics = table.texts("metrics");
  check(table, [&] { strategies::make_optimizer(workload.optimizer); });
  check(table, [&] {
    const auto loss = strategies::make_loss(workload.loss);
    for (const std::string& metric : workload.metrics) strategies::make_metric(metric, *loss);
  });
  table.counts("input");
  const std::vector<ModelTable> layers = table.tables("layers");
  if (layers.empty()) table.refuse("there are no layers; add tables [[layers]]");
  for (const ModelTable& layer : layers) make_layer(layer, 1);
  table.require_all_known();
  workload.input = [path, root](const RowShape& shape) { return input_for(path, *root, shape); };
  workload.layers = [path, root](const RowShape& shape) { return layers_for(path, *root, shape); };
  return workload;
}

}  // namespace mirrorscale::scenarios

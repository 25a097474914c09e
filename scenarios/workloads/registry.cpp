#include "scenarios/workloads/registry.h"

#include "scenarios/model_file/model_file.h"

#include <map>
#include <mutex>
#include <stdexcept>

namespace mirrorscale::scenarios {

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all{binary_workload(),
                                         cnn_workload(),
                                         lenet_workload(),
                                         mlp_workload(),
                                         mlp_small_workload(),
                                         regression_workload(),
                                         softmax_regression_workload(),
                                         transformer_workload(),
                                         transformer_small_workload(),
                                         vgg_workload(),
                                         vgg_small_workload()};
  return all;
}

namespace {

const Workload& workload_from_file(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, Workload> read;
  const std::lock_guard lock(mutex);
  const auto found = read.find(path);
  return found != read.end() ? found->second : read.emplace(path, read_model_file(path)).first->second;
}

}  // namespace

const Workload& find_workload(std::string_view name) {
  if (names_a_model_file(name)) return workload_from_file(std::string(name));
  std::string known;
  for (const Workload& workload : workloads()) {
    if (workload.name == name) return workload;
    known += (known.empty() ? "" : ", ") + workload.name;
  }
  throw std::invalid_argument("no workload '" + std::string(name) + "'; there are: " + known +
                              "; or the .toml file of a model of your own");
}

RowShape shape_of(const strategies::Dataset& dataset) {
  const auto [height, width, channels] = dataset.image();
  return {{height, width, channels}, dataset.classes(), dataset.target_columns()};
}

RowShape require_classes(const char* workload, const RowShape& shape) {
  if (shape.classes > 0) return shape;
  throw std::invalid_argument(
      std::string("workload '") + workload +
      "' learns class labels, and these data have none; use data with whole-number labels");
}

RowShape require_images(const char* workload, const RowShape& shape) {
  if (shape.in.positions() > 1) return require_classes(workload, shape);
  throw std::invalid_argument(std::string("workload '") + workload +
                              "' learns from images, and these data are rows of " +
                              std::to_string(shape.in.channels) +
                              " features; use IDX images, or a .npy array [rows, height, width, channels]");
}

RowShape require_targets(const char* workload, const RowShape& shape) {
  if (shape.target_columns > 0) return shape;
  throw std::invalid_argument(
      std::string("workload '") + workload +
      "' learns numeric targets, and these data have none; use data with floating-point y");
}

strategies::Model make_model(const Workload& workload, const strategies::Dataset& data,
                             const strategies::Strategy& strategy, const ModelSettings& settings) {
  const strategies::Scope scope = strategy.scope();
  const RowShape shape = shape_of(data);
  strategies::Model model(workload.input_of(shape), workload.layers(shape),
                          {.name = workload.name, .seed = settings.seed});
  model.compile(settings.optimizer.empty() ? workload.optimizer : settings.optimizer, workload.loss,
                workload.metrics, {.global_batch = settings.global_batch});
  return model;
}

}  // namespace mirrorscale::scenarios

// REF: the steps of a short run once more, by the oracle in double.
#include "kernels/buffer.h"
#include "scenarios/oracle/sequence.h"
#include "scenarios/oracle/trainer.h"
#include "scenarios/validation/invariants.h"
#include "scenarios/workloads/workload.h"
#include "strategies/engine/convolution.h"
#include "strategies/engine/embedding.h"
#include "strategies/engine/layer_norm.h"
#include "strategies/engine/pooling.h"
#include "strategies/engine/reshape.h"
#include "strategies/engine/residual.h"
#include "strategies/engine/self_attention.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

namespace mirrorscale::scenarios {
namespace {

/// The rows of a data set as the oracle takes them.
struct Rows {
  std::size_t count = 0;
  std::vector<double> x, targets, weights;
  std::vector<int> labels;

  oracle::Batch batch() const { return {count, x, labels, targets, weights}; }
};

void append_matrix(kernels::ConstMatrix m, std::vector<double>& to) {
  for (int r = 0; r < m.rows; ++r) {
    for (int c = 0; c < m.columns; ++c) to.push_back(static_cast<double>(m.at(r, c)));
  }
}

Rows rows_of(const strategies::Dataset& data, std::span<const std::int64_t> ids) {
  Rows rows;
  rows.count = ids.size();
  const auto answers = static_cast<std::size_t>(data.labels_per_row());
  const auto count = static_cast<int>(ids.size());
  const auto read = [&](int columns, auto&& copy, std::vector<double>& to) {
    const kernels::Buffer buffer = kernels::make_buffer(kernels::activation_size(count, columns));
    const kernels::Matrix m{buffer.get(), count, columns, kernels::activation_stride(count)};
    copy(m);
    append_matrix(m, to);
  };
  read(
      data.features(), [&](kernels::Matrix m) { data.copy_features(ids, m); }, rows.x);
  if (data.classes() > 0) {
    rows.labels.resize(ids.size() * answers);
    data.copy_labels(ids, rows.labels.data());
  }
  if (data.target_columns() > 0) {
    read(
        data.target_columns(), [&](kernels::Matrix m) { data.copy_targets(ids, m); }, rows.targets);
  }
  std::vector<float> weights(ids.size(), 1.0F);
  if (data.weighted()) data.copy_weights(ids, weights.data());
  for (const float weight : weights)
    rows.weights.insert(rows.weights.end(), answers, static_cast<double>(weight));
  return rows;
}

oracle::Loss loss_from(const std::string& name) {
  if (name == "sparse_categorical_crossentropy") return oracle::Loss::kSparseCrossEntropy;
  if (name == "sparse_categorical_crossentropy_from_logits")
    return oracle::Loss::kSparseCrossEntropyFromLogits;
  if (name == "binary_crossentropy") return oracle::Loss::kBinaryCrossEntropy;
  if (name == "binary_crossentropy_from_logits") return oracle::Loss::kBinaryCrossEntropyFromLogits;
  if (name == "mse" || name == "mean_squared_error") return oracle::Loss::kMeanSquaredError;
  if (name == "mae" || name == "mean_absolute_error") return oracle::Loss::kMeanAbsoluteError;
  throw std::invalid_argument("the oracle has no loss '" + name + "'");
}

/// Sets optimizer and clipping to what `text` stands for, written down a second time: the judge doesn't ask
/// the judged. Throws std::invalid_argument for what the oracle doesn't have.
void take_optimizer(const std::string& text, oracle::Settings& settings) {
  std::map<std::string, double> given;  // "rate", and keys
  std::string name;
  std::istringstream parts(text);
  std::getline(parts, name, ':');
  for (std::string part; std::getline(parts, part, ':');) {
    const std::size_t equals = part.find('=');
    const std::string key = equals == std::string::npos ? "rate" : part.substr(0, equals);
    if (key == "decay") throw std::invalid_argument("the oracle has no schedules");
    given[key] = std::stod(equals == std::string::npos ? part : part.substr(equals + 1));
  }
  const auto take = [&](const char* key, double preset) {
    const auto found = given.find(key);
    if (found == given.end()) return preset;
    const double value = found->second;
    given.erase(found);
    return value;
  };
  if (name == "sgd") {
    settings.optimizer = oracle::Sgd{take("rate", 0.01), 0, false};
  } else if (name == "momentum" || name == "nesterov") {
    settings.optimizer = oracle::Sgd{take("rate", 0.01), take("momentum", 0.9), name == "nesterov"};
  } else if (name == "adam" || name == "adamw") {
    oracle::Adam adam;
    adam.rate = take("rate", 0.001);
    adam.beta1 = take("beta1", 0.9);
    adam.beta2 = take("beta2", 0.999);
    adam.epsilon = take("epsilon", 1e-7);
    adam.weight_decay = take("weight_decay", name == "adamw" ? 0.004 : 0);
    settings.optimizer = adam;
  } else if (name == "adagrad") {
    settings.optimizer = oracle::Adagrad{take("rate", 0.001), take("initial", 0.1), take("epsilon", 1e-7)};
  } else {
    throw std::invalid_argument("the oracle has no optimizer '" + name + "'");
  }
  settings.global_clip_norm = take("clip_global_norm", 0);
  if (!given.empty())
    throw std::invalid_argument("the oracle has no '" + given.begin()->first + "' of an optimizer");
}

/// TensorFlow's rule for padding, written down a second time.
oracle::WindowAxis axis_of(int in, int out, int size, int stride, int dilation, bool same) {
  const int missing = (out - 1) * stride + (size - 1) * dilation + 1 - in;
  const auto count = [](int n) { return static_cast<std::size_t>(n); };
  return {count(in),     count(out),      count(size),
          count(stride), count(dilation), count(same ? std::max(0, missing) / 2 : 0)};
}
oracle::Window window_of(const strategies::Shape& in, const strategies::Shape& out,
                         const strategies::Sliding& s) {
  const bool same = s.padding == "same";
  return {axis_of(in.height, out.height, s.size.y, s.stride.y, s.dilation.y, same),
          axis_of(in.width, out.width, s.size.x, s.stride.x, s.dilation.x, same)};
}

/// The settings that all layers with a kernel have.
template <class Settings>
Settings with_parameters(Settings settings, const strategies::Chain::Stage& stage,
                         const strategies::ParameterLayout& parameters) {
  settings.activation = oracle::activation_from(strategies::to_string(stage.layer->output_function()));
  settings.bias = false;
  for (const auto& slice : parameters.slices()) {
    if (slice.spec.name == stage.name + "/bias") settings.bias = true;
    if (slice.spec.name == stage.name + "/kernel") {
      settings.l1 = static_cast<double>(slice.spec.penalty.l1);
      settings.l2 = static_cast<double>(slice.spec.penalty.l2);
    }
  }
  return settings;
}

oracle::LayerSettings layer_of(const strategies::Chain::Stage& stage,
                               const strategies::ParameterLayout& parameters) {
  const strategies::Shape &in = stage.in, &out = stage.out;
  const auto count = [](int n) { return static_cast<std::size_t>(n); };
  if (stage.layer->kind() == "dense")
    return with_parameters(oracle::Dense{count(in.columns()), count(out.columns())}, stage, parameters);
  if (const auto* conv = dynamic_cast<const strategies::Conv2D*>(stage.layer.get())) {
    const strategies::Conv2DOptions& o = conv->options();
    return with_parameters(
        oracle::Convolution{window_of(in, out, {o.kernel, o.stride, o.dilation, o.padding}),
                            count(in.channels), count(o.filters), count(o.groups)},
        stage, parameters);
  }
  if (const auto* pool = dynamic_cast<const strategies::Pooling*>(stage.layer.get())) {
    strategies::Sliding sliding = pool->sliding();
    if (pool->pooling() == strategies::PoolingKind::kGlobalAverage) sliding.size = {in.height, in.width};
    return oracle::Pool{window_of(in, out, sliding), count(in.channels),
                        pool->pooling() == strategies::PoolingKind::kMax};
  }
  throw std::invalid_argument("the oracle has no layer like '" + stage.name + "' (" + stage.layer->kind() +
                              ")");
}

/// A layer over positions, or null where the stage is none.
oracle::LayerPtr sequence_layer(const strategies::Chain::Stage& stage,
                                const strategies::ParameterLayout& parameters);

/// Layers on their way to the oracle: the last one waits for the activation that may follow it.
class LayerList {
 public:
  void add(oracle::LayerSettings settings, std::size_t positions) {
    finish();
    waiting_ = std::move(settings);
    positions_ = positions;
  }
  void add(oracle::LayerPtr layer) {
    finish();
    layers_.push_back(std::move(layer));
  }
  /// False when the last layer has one already, or can't have any.
  bool activate(oracle::Activation f) {
    if (!waiting_) return false;
    const auto take = [&](auto& layer) {
      if constexpr (requires { layer.activation; }) {
        if (layer.activation != oracle::Activation::kLinear) return false;
        layer.activation = f;
        return true;
      }
      return false;
    };
    return std::visit(take, *waiting_);
  }
  std::vector<oracle::LayerPtr> take() {
    finish();
    return std::move(layers_);
  }

 private:
  void finish() {
    if (!waiting_) return;
    layers_.push_back(oracle::at_positions(
        positions_, std::visit([](const auto& layer) { return oracle::make_layer(layer); }, *waiting_)));
    waiting_.reset();
  }

  std::optional<oracle::LayerSettings> waiting_;
  std::size_t positions_ = 1;
  std::vector<oracle::LayerPtr> layers_;
};

std::vector<oracle::LayerPtr> layers_of(const strategies::Chain& chain,
                                        const strategies::ParameterLayout& parameters) {
  LayerList layers;
  for (const auto& stage : chain.stages()) {
    if (dynamic_cast<const strategies::Reshape*>(stage.layer.get()) != nullptr) continue;  // the same numbers
    if (stage.layer->kind() == "activation" &&
        layers.activate(oracle::activation_from(strategies::to_string(stage.layer->output_function())))) {
      continue;
    }
    if (oracle::LayerPtr made = sequence_layer(stage, parameters)) {
      layers.add(std::move(made));
    } else {
      const bool dense = stage.layer->kind() == "dense";
      layers.add(layer_of(stage, parameters), dense ? static_cast<std::size_t>(stage.in.rows()) : 1);
    }
  }
  return layers.take();
}

oracle::LayerPtr sequence_layer(const strategies::Chain::Stage& stage,
                                const strategies::ParameterLayout& parameters) {
  const auto count = [](int n) { return static_cast<std::size_t>(n); };
  const strategies::Shape &in = stage.in, &out = stage.out;
  const strategies::Layer* layer = stage.layer.get();
  if (const auto* norm = dynamic_cast<const strategies::LayerNorm*>(layer)) {
    return oracle::at_positions(count(in.rows()), oracle::layer_norm(count(in.columns()), norm->epsilon()));
  }
  if (dynamic_cast<const strategies::Embedding*>(layer) != nullptr) {
    for (const auto& slice : parameters.slices()) {
      if (slice.spec.name == stage.name + "/table")
        return oracle::embedding(count(slice.spec.rows), count(out.channels), count(out.positions()));
    }
  }
  if (dynamic_cast<const strategies::PositionEmbedding*>(layer) != nullptr) {
    return oracle::position_embedding(count(in.positions()), count(in.channels));
  }
  if (const auto* attention = dynamic_cast<const strategies::SelfAttention*>(layer)) {
    const kernels::Attention& a = attention->attention();
    return oracle::self_attention(
        {count(a.positions), count(a.heads), count(out.channels / a.heads), a.causal});
  }
  if (const auto* residual = dynamic_cast<const strategies::Residual*>(layer)) {
    const strategies::Chain* shortcut = residual->shortcut();
    return oracle::residual(oracle::stack(layers_of(residual->branch(), parameters)),
                            shortcut != nullptr ? oracle::stack(layers_of(*shortcut, parameters)) : nullptr,
                            oracle::activation_from(strategies::to_string(residual->output_function())));
  }
  return nullptr;
}

/// The arithmetic that a cell is held to.
oracle::ErrorModel errors_of(const CellSpec& spec) {
  oracle::ErrorModel errors;
  if (spec.exact()) return errors;
  errors.factor_unit = factor_roundoff(spec.precision);
  if (spec.precision == "float16") errors.factor_underflow = 0x1p-25;
  errors.row_chain = std::max(errors.row_chain, static_cast<std::size_t>(spec.global_batch));
  return errors;
}

oracle::Trainer make_trainer(const CellSpec& spec, const strategies::Network& network,
                             const std::vector<strategies::NamedArray>& start) {
  oracle::Settings settings;
  settings.loss = loss_from(find_workload(spec.workload).loss);
  take_optimizer(spec.optimizer, settings);
  settings.errors = errors_of(spec);
  std::vector<std::vector<double>> weights;
  for (const auto& array : start) weights.emplace_back(array.values.begin(), array.values.end());
  settings.answers = static_cast<std::size_t>(network.out().rows());
  return {layers_of(network.chain(), network.parameters()), settings, weights};
}

Yardsticks::Oracle train_oracle(const CellSpec& spec, const ShortRunData& data) {
  const strategies::Network network = network_of(spec, *data.train);
  oracle::Trainer trainer = make_trainer(spec, network, network.initial_weights(spec.seed));

  Yardsticks::Oracle result;
  const auto order = strategies::UniformShuffle().order(data.train->rows(), spec.seed, 0);
  const auto batch = static_cast<std::size_t>(data.global_batch);
  for (std::size_t at = 0; at < order.size(); at += batch) {
    const auto ids = std::span(order).subspan(at, std::min(batch, order.size() - at));
    const oracle::Estimate loss = trainer.step(rows_of(*data.train, ids).batch()).total();
    result.losses.push_back(loss.value);
    result.loss_bounds.push_back(loss.bound);
  }
  for (std::size_t p = 0; p < trainer.weight_count(); ++p) {
    oracle::Estimates estimates = trainer.weights(p);
    result.weights.push_back(std::move(estimates.values));
    result.weight_bounds.push_back(std::move(estimates.bounds));
  }
  return result;
}

}  // namespace

const Yardsticks::Oracle& Yardsticks::oracle(const CellSpec& spec) {
  CellSpec one = spec;
  one.devices = 1;
  const std::string key = one.key() + "/" + std::to_string(one.global_batch);
  const auto found = oracles_.find(key);
  if (found != oracles_.end()) return found->second;
  Oracle result;
  try {
    result = train_oracle(one, short_run_data(data_, one.global_batch));
  } catch (const std::invalid_argument& e) {
    result.why_not = e.what();
  }
  return oracles_.emplace(key, std::move(result)).first->second;
}

Yardsticks::Predicted Yardsticks::predictions(const CellSpec& spec,
                                              const std::vector<strategies::NamedArray>& weights) const {
  const ShortRunData rows = short_run_data(data_, spec.global_batch);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(rows.test->rows()));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  Predicted result;
  try {
    oracle::Estimates estimates = make_trainer(spec, network_of(spec, *rows.train), weights)
                                      .predict(rows_of(*rows.test, ids).x, ids.size());
    result.values = std::move(estimates.values);
    result.bounds = std::move(estimates.bounds);
  } catch (const std::invalid_argument& e) {
    result.why_not = e.what();
  }
  return result;
}

}  // namespace mirrorscale::scenarios

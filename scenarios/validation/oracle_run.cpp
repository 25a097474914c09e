// REF: the steps of a short run once more, by the oracle in double.
#include "kernels/buffer.h"
#include "scenarios/oracle/trainer.h"
#include "scenarios/validation/invariants.h"
#include "scenarios/validation/oracle_layers.h"
#include "scenarios/workloads/workload.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

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
    if (key == "exclude") throw std::invalid_argument("the oracle has no 'exclude' of an optimizer");
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
  return {oracle_layers(network.chain(), network.parameters()), settings, weights};
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

#include "scenarios/oracle/trainer.h"

#include "scenarios/oracle/accuracy.h"
#include "scenarios/oracle/losses.h"
#include "scenarios/oracle/penalties.h"
#include "scenarios/oracle/sequence.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>

namespace mirrorscale::scenarios::oracle {

namespace {

/// Rows that are predicted or evaluated at a time: at most, and so that they take no more values in all
/// layers.
constexpr std::size_t kRowsAtOnce = 1024, kValuesAtOnce = std::size_t{1} << 23;
/// Below any float32 number that matters: what underflow may cost.
constexpr double kUnderflow = 1e-30;

Batch rows_of(const Batch& batch, std::size_t first, std::size_t count, std::size_t inputs,
              std::size_t outputs, std::size_t answers) {
  Batch part{.rows = count, .x = batch.x.subspan(first * inputs, count * inputs)};
  if (!batch.labels.empty()) part.labels = batch.labels.subspan(first * answers, count * answers);
  if (!batch.targets.empty()) part.targets = batch.targets.subspan(first * outputs, count * outputs);
  if (!batch.weights.empty()) part.weights = batch.weights.subspan(first * answers, count * answers);
  return part;
}

void expect_size(const std::string& what, std::size_t actual, std::size_t expected) {
  if (actual != expected) {
    throw std::invalid_argument("[oracle] " + what + " has " + std::to_string(actual) + " values, expected " +
                                std::to_string(expected));
  }
}

std::vector<std::unique_ptr<Layer>> made(const std::vector<LayerSettings>& settings) {
  std::vector<std::unique_ptr<Layer>> layers;
  for (const LayerSettings& s : settings)
    layers.push_back(std::visit([](const auto& layer) { return make_layer(layer); }, s));
  return layers;
}

}  // namespace

Estimate LossEstimate::total() const {
  return {data.value + penalty.value, data.bound + penalty.bound};
}

Trainer::Trainer(std::vector<std::unique_ptr<Layer>> layers, Settings settings,
                 const std::vector<std::vector<double>>& weights)
    : settings_(std::move(settings)) {
  if (layers.empty()) throw std::invalid_argument("[oracle] a network needs a layer");
  if (settings_.threads <= 0) settings_.threads = static_cast<int>(std::thread::hardware_concurrency());
  how_ = {settings_.errors, settings_.threads};
  network_ = stack(std::move(layers));
  arrays_ = network_->arrays();
  expect_size("the list of weight arrays", weights.size(), arrays_.size());
  for (std::size_t a = 0; a < arrays_.size(); ++a) {
    expect_size("weight array " + std::to_string(a), weights[a].size(), arrays_[a].rows * arrays_[a].columns);
    Parameter p;
    p.w.resize(arrays_[a].rows, arrays_[a].columns);
    p.w.value = weights[a];
    for (std::size_t i = 0; i < p.w.size(); ++i) {
      p.w.scale[i] = settings_.errors.rounds_weights ? std::fabs(p.w.value[i]) : 0;
    }
    prepare(settings_.optimizer, p);
    parameters_.push_back(std::move(p));
  }
}

Trainer::Trainer(const std::vector<LayerSettings>& layers, Settings settings,
                 const std::vector<std::vector<double>>& weights)
    : Trainer(made(layers), std::move(settings), weights) {}

void Trainer::check(const Batch& batch) const {
  const std::size_t inputs = network_->inputs(), outputs = network_->outputs();
  if (batch.rows == 0) throw std::invalid_argument("[oracle] a batch without rows");
  expect_size("x", batch.x.size(), batch.rows * inputs);
  const std::size_t answers = batch.rows * settings_.answers;
  expect_size("labels", batch.labels.size(), is_sparse(settings_.loss) ? answers : 0);
  expect_size("targets", batch.targets.size(), is_sparse(settings_.loss) ? 0 : batch.rows * outputs);
  if (!batch.weights.empty()) expect_size("sample weights", batch.weights.size(), answers);
  for (const int label : batch.labels) {
    if (label < 0 || static_cast<std::size_t>(label) >= outputs / settings_.answers) {
      throw std::invalid_argument("[oracle] label " + std::to_string(label) + " of " +
                                  std::to_string(outputs / settings_.answers) + " classes");
    }
  }
}

Tracked Trainer::take_rows(std::span<const double> x, std::size_t rows) const {
  Tracked taken;
  taken.resize(rows, network_->inputs());
  expect_size("x", x.size(), taken.size());
  std::copy(x.begin(), x.end(), taken.value.begin());
  for (std::size_t i = 0; i < taken.size(); ++i) {
    taken.scale[i] = settings_.errors.rounds_inputs ? std::fabs(taken.value[i]) : 0;
  }
  return taken;
}

std::size_t Trainer::rows_at_once() const {
  return std::clamp(kValuesAtOnce / network_->values_a_row(), std::size_t{1}, kRowsAtOnce);
}

const Tracked& Trainer::forward(const Tracked& x) {
  return network_->forward(how_, x, parameters_);
}

/// Of the last forward, which was of `x`. `gradient`: of the summed loss by the network's output.
void Trainer::backward(const Tracked& x, const Tracked& gradient, double normaliser) {
  network_->backward(how_, x, gradient, parameters_, nullptr);
  const double share = normaliser == 0 ? 0 : 1 / normaliser;
  for (Parameter& p : parameters_) {
    for (std::size_t i = 0; i < p.gradient.size(); ++i) {
      p.gradient.value[i] *= share;
      p.gradient.scale[i] = std::fabs(share) * p.gradient.scale[i] + 2 * std::fabs(p.gradient.value[i]);
    }
  }
}

void Trainer::add_penalties() {
  for (std::size_t a = 0; a < arrays_.size(); ++a)
    add_penalty_gradient(arrays_[a], settings_.errors, parameters_[a].w, parameters_[a].gradient);
}

/// Scales all gradients together by min(1, clip / norm).
void Trainer::clip() {
  if (settings_.global_clip_norm == 0) return;
  double squares = 0, shared = 0, count = 0;
  for (const Parameter& p : parameters_) {
    for (std::size_t i = 0; i < p.gradient.size(); ++i) {
      squares += p.gradient.value[i] * p.gradient.value[i];
      shared += std::fabs(p.gradient.value[i]) * p.gradient.scale[i];
    }
    count += static_cast<double>(p.gradient.size());
  }
  const double norm = std::sqrt(squares),
               factor = norm > settings_.global_clip_norm ? settings_.global_clip_norm / norm : 1;
  // Relative: of the norm through the gradients, and of its own sum of squares, root and division.
  const double relative = norm == 0 ? 0 : shared / squares + std::sqrt(count) + 3;
  for (Parameter& p : parameters_) {
    for (std::size_t i = 0; i < p.gradient.size(); ++i) {
      p.gradient.value[i] *= factor;
      p.gradient.scale[i] = factor * p.gradient.scale[i] + std::fabs(p.gradient.value[i]) * (relative + 1);
    }
  }
}

double Trainer::normaliser(const Batch& batch) const {
  if (settings_.normaliser == Normaliser::kRows || batch.weights.empty())
    return static_cast<double>(batch.rows * settings_.answers);
  double sum = 0;
  for (const double w : batch.weights) sum += w;
  return sum;
}

LossEstimate Trainer::loss_of(const Tracked& losses, double normaliser) const {
  const ErrorModel& errors = settings_.errors;
  double sum = 0, chain = 0, shared = 0;
  for (std::size_t r = 0; r < losses.rows; ++r) {
    sum += losses.value[r];
    chain += sum * sum;
    shared += losses.scale[r];
  }
  LossEstimate result;
  if (normaliser != 0) {
    result.data.value = sum / normaliser;
    result.data.bound =
        errors.bound_of((shared + std::sqrt(chain) + 2 * std::fabs(sum)) / std::fabs(normaliser));
  }
  for (std::size_t a = 0; a < arrays_.size(); ++a) {
    const Penalty penalty = penalty_of(arrays_[a], parameters_[a].w);
    result.penalty.value += penalty.value;
    result.penalty.bound += errors.bound_of(penalty.scale);
  }
  result.data.bound += kUnderflow;
  // The judged run may keep one float for both.
  result.penalty.bound += errors.bound_of(result.penalty.value == 0 ? 0 : std::fabs(result.total().value));
  return result;
}

LossEstimate Trainer::step(const Batch& batch) {
  check(batch);
  const Tracked x = take_rows(batch.x, batch.rows);
  Tracked losses, gradient;
  losses_of(settings_.loss, settings_.errors, answers_of(forward(x)), answers_of(batch), losses, &gradient);
  gradient.rows = batch.rows;
  gradient.columns *= settings_.answers;
  const LossEstimate loss = loss_of(losses, normaliser(batch));
  backward(x, gradient, normaliser(batch));
  add_penalties();
  clip();
  ++steps_;
  for (Parameter& p : parameters_) {
    update(settings_.optimizer, settings_.errors, static_cast<double>(steps_), p);
  }
  return loss;
}

Tracked Trainer::answers_of(Tracked prediction) const {
  prediction.rows *= settings_.answers;
  prediction.columns /= settings_.answers;
  return prediction;
}
Batch Trainer::answers_of(Batch batch) const {
  batch.rows *= settings_.answers;
  return batch;
}

Estimates Trainer::predict(std::span<const double> x, std::size_t rows) {
  const std::size_t inputs = network_->inputs();
  expect_size("x", x.size(), rows * inputs);
  Estimates all;
  for (std::size_t first = 0, step = rows_at_once(); first < rows; first += step) {
    const std::size_t count = std::min(step, rows - first);
    const Estimates part = estimates(forward(take_rows(x.subspan(first * inputs, count * inputs), count)));
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
    all.bounds.insert(all.bounds.end(), part.bounds.begin(), part.bounds.end());
  }
  return all;
}

Evaluation Trainer::evaluate(const Batch& rows) {
  check(rows);
  const std::size_t inputs = network_->inputs(), outputs = network_->outputs();
  const bool binary =
      settings_.loss == Loss::kBinaryCrossEntropy || settings_.loss == Loss::kBinaryCrossEntropyFromLogits;
  Tracked losses, all;
  Hits hits;
  for (std::size_t first = 0, step = rows_at_once(); first < rows.rows; first += step) {
    const std::size_t count = std::min(step, rows.rows - first);
    const Batch part = answers_of(
        rows_of(rows, first, count, inputs, is_sparse(settings_.loss) ? 0 : outputs, settings_.answers));
    const Tracked prediction = answers_of(forward(take_rows(part.x, count)));
    losses_of(settings_.loss, settings_.errors, prediction, part, losses, nullptr);
    all.value.insert(all.value.end(), losses.value.begin(), losses.value.end());
    all.scale.insert(all.scale.end(), losses.scale.begin(), losses.scale.end());
    Hits more;
    if (is_sparse(settings_.loss)) more = sparse_hits(settings_.errors, prediction, part);
    if (binary) more = binary_hits(settings_.errors, prediction, part, settings_.threshold);
    hits.sum += more.sum;
    hits.undecided += more.undecided;
  }
  all.rows = rows.rows * settings_.answers;
  all.columns = 1;
  const double divisor = normaliser(rows);
  Evaluation result{.loss = loss_of(all, divisor), .accuracy = std::nullopt};
  if (divisor != 0 && (binary || is_sparse(settings_.loss))) {
    // Counts are exact in float32; a share and weighted sums are rounded.
    const double rounding = settings_.errors.bound_of(2 + std::sqrt(static_cast<double>(all.rows)));
    result.accuracy =
        Estimate{hits.sum / divisor, (hits.undecided + rounding * std::fabs(hits.sum)) / std::fabs(divisor)};
  }
  return result;
}

void Trainer::adopt(std::size_t array, std::span<const float> weights, std::span<const float> slot0,
                    std::span<const float> slot1) {
  Parameter& p = parameters_.at(array);
  const auto take = [array](const char* what, std::span<const float> from, Tracked& to) {
    expect_size(std::string(what) + " of array " + std::to_string(array), from.size(), to.size());
    std::copy(from.begin(), from.end(), to.value.begin());
    std::fill(to.scale.begin(), to.scale.end(), 0.0);
  };
  take("weights", weights, p.w);
  take("slot 0", slot0, p.first);
  take("slot 1", slot1, p.second);
}

void Trainer::set_rate(double rate) {
  std::visit([rate](auto& optimizer) { optimizer.rate = rate; }, settings_.optimizer);
}

Estimates Trainer::estimates(const Tracked& tracked) const {
  Estimates result{tracked.value, tracked.scale};
  for (double& bound : result.bounds) bound = settings_.errors.bound_of(bound) + kUnderflow;
  return result;
}

Estimates Trainer::weights(std::size_t array) const {
  return estimates(parameters_.at(array).w);
}
Estimates Trainer::gradients(std::size_t array) const {
  return estimates(parameters_.at(array).gradient);
}
Estimates Trainer::slots(std::size_t array, int slot) const {
  const Parameter& p = parameters_.at(array);
  return estimates(slot == 0 ? p.first : p.second);
}

}  // namespace mirrorscale::scenarios::oracle

#include "strategies/model.h"

#include "strategies/engine/dropout.h"
#include "strategies/engine/embedding.h"
#include "strategies/engine/layer_norm.h"
#include "strategies/engine/tally.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace mirrorscale::strategies {
namespace {

std::string where(const ScopeTag& tag) {
  return tag.id == 0 ? "outside of any scope" : "in the scope of " + tag.name;
}

std::string mend(const ScopeTag& tag) {
  return tag.id == 0 ? "Move it out of the scope, or build the model in that scope too."
                     : "Move it inside `auto scope = strategy.scope();` of " + tag.name + ".";
}

void require_same_scope(const std::string& what, const ScopeTag& made, const std::string& model,
                        const ScopeTag& tag) {
  if (made.id == tag.id) return;
  throw std::invalid_argument("[compile] " + what + " was made " + where(made) + ", but model '" + model +
                              "' was built " + where(tag) + ". " + mend(tag));
}

template <class Call>
void each(const std::vector<CallbackPtr>& callbacks, Call call) {
  for (const CallbackPtr& callback : callbacks) call(*callback);
}

bool want_batches(const std::vector<CallbackPtr>& callbacks) {
  for (const CallbackPtr& callback : callbacks) {
    if (callback->wants_batches()) return true;
  }
  return false;
}

void check_loop(const char* what, int global_batch, int steps_per_execution) {
  if (global_batch < 1 || steps_per_execution < 1) {
    throw std::invalid_argument(std::string("[") + what + "] global_batch is " +
                                std::to_string(global_batch) + " and steps_per_execution is " +
                                std::to_string(steps_per_execution) + "; both need at least 1");
  }
}

}  // namespace

Model::Model(const Shape& in, const std::vector<LayerPtr>& layers, const ModelOptions& options)
    : options_(options),
      network_(std::make_shared<const Network>(in, layers)),
      session_(std::make_unique<Session>(current_strategy(), network_, options.seed)) {}

void Model::check_scope() const {
  const ScopeTag& now = current_scope();
  if (now.id == 0 || now.id == scope_.id) return;
  throw std::invalid_argument(
      "[compile] model '" + options_.name + "' was built " + where(scope_) +
      " and is compiled in the scope of " + now.name +
      ". Move the construction of the model inside `auto scope = strategy.scope();` of " + now.name + ".");
}

void Model::compile(OptimizerPtr optimizer, LossPtr loss, std::vector<MetricPtr> metrics,
                    std::vector<CountMetricPtr> counted) {
  check_scope();
  if (!optimizer || !loss)
    throw std::invalid_argument("[compile] needs an optimizer and a loss; one is null");
  require_same_scope("optimizer '" + optimizer->name() + "'", optimizer->scope(), options_.name, scope_);
  for (const MetricPtr& metric : metrics) {
    if (!metric) throw std::invalid_argument("[compile] a metric is null");
    require_same_scope("metric '" + metric->name() + "'", metric->scope(), options_.name, scope_);
  }
  for (const CountMetricPtr& metric : counted) {
    if (!metric) throw std::invalid_argument("[compile] a metric is null");
    require_same_scope("metric '" + metric->name() + "'", metric->scope(), options_.name, scope_);
  }
  objective_ = {std::move(loss), std::move(metrics), std::move(optimizer), std::move(counted)};
  trained_ = evaluated_ = {};
  session_->compile(objective_);
}

void Model::compile(const std::string& optimizer, const std::string& loss,
                    const std::vector<std::string>& metrics, const OptimizerContext& context) {
  check_scope();
  // What is made from a name belongs to the model's own scope, wherever compile is called.
  const ScopeTag before = internal::exchange_current_scope(scope_);
  try {
    const LossPtr made = make_loss(loss);
    std::vector<MetricPtr> made_metrics;
    std::vector<CountMetricPtr> counted;
    for (const std::string& metric : metrics) {
      if (is_count_metric(metric)) {
        counted.push_back(make_count_metric(metric, *made));
      } else {
        made_metrics.push_back(make_metric(metric, *made));
      }
    }
    const OptimizerPtr made_optimizer = make_optimizer(optimizer, context);
    compile(made_optimizer, made, std::move(made_metrics), std::move(counted));
  } catch (...) {
    internal::exchange_current_scope(before);
    throw;
  }
  internal::exchange_current_scope(before);
}

const Optimizer& Model::optimizer() const {
  if (!objective_.optimizer)
    throw std::invalid_argument("[model] '" + options_.name + "' is not compiled yet");
  return *objective_.optimizer;
}
Optimizer& Model::optimizer() {
  std::as_const(*this).optimizer();
  return *objective_.optimizer;
}

Logs Model::logs_of(const Pooled& pooled, const std::string& prefix, double penalty) const {
  Logs logs{{prefix + "loss", pooled.loss() + penalty}};
  for (std::size_t m = 0; m < objective_.metrics.size(); ++m) {
    logs[prefix + objective_.metrics[m]->name()] = objective_.metrics[m]->shown(pooled.metric(m));
  }
  for (std::size_t m = 0; m < objective_.counted.size(); ++m) {
    const auto cells = Tally::part(objective_.counted, m, network_->outputs(), pooled.counts);
    const auto value = objective_.counted[m]->value(cells);
    if (value) logs[prefix + objective_.counted[m]->name()] = *value;
  }
  return logs;
}

std::map<std::string, CountTable> Model::tables_of(const std::vector<std::int64_t>& counts) const {
  std::map<std::string, CountTable> tables;
  for (std::size_t m = 0; m < objective_.counted.size(); ++m) {
    auto table =
        objective_.counted[m]->table(Tally::part(objective_.counted, m, network_->outputs(), counts));
    if (table) tables[objective_.counted[m]->name()] = *std::move(table);
  }
  return tables;
}

bool Model::train_epoch(LoopControl& control, const DatasetPtr& train, const FitOptions& options) {
  TrainingPosition& at = control.position;
  const Shuffler& shuffler = *strategy().parts().shuffler;
  const auto order = options.shuffle ? shuffler.order(train->rows(), options.seed, at.epoch)
                                     : InOrder().order(train->rows(), options.seed, at.epoch);
  const std::int64_t batches = (train->rows() + options.global_batch - 1) / options.global_batch;
  at.sums.metric_sums.resize(objective_.metrics.size());
  const bool stepwise = want_batches(options.callbacks);
  std::vector<Pooled> steps;
  bool finite = true;
  while (at.batch < batches && !control.stop_now) {
    std::int64_t count = batches - at.batch;
    if (stepwise) {
      count = std::min<std::int64_t>(options.steps_per_execution, count);
      each(options.callbacks, [&](Callback& c) { count = std::min(count, c.most_steps(this->steps())); });
      each(options.callbacks, [&](Callback& c) { c.on_train_batch_begin(control, at.batch); });
    }
    const Pooled all = session_->train(order, at.batch, count, nullptr, &steps);
    for (const Pooled& step : steps)
      at.sums.merge(step);  // in this order, so that executions don't change the bits
    at.sums.add_counts(all.counts);
    at.sums.data_wait_s += all.data_wait_s;
    at.batch += static_cast<std::int64_t>(steps.size());
    finite = static_cast<std::int64_t>(steps.size()) == count;
    control.stop_now = control.stop_now || !finite;
    if (!stepwise || steps.empty()) continue;
    each(options.callbacks,
         [&](Callback& c) { c.on_train_batch_end(control, at.batch - 1, logs_of(at.sums, "", 0)); });
  }
  return finite;
}

History Model::fit(const DatasetPtr& train, const FitOptions& options) {
  if (!train) throw std::invalid_argument("[fit] the data set is null");
  check_loop("fit", options.global_batch, options.steps_per_execution);
  if (options.epochs < 1) {
    throw std::invalid_argument("[fit] epochs is " + std::to_string(options.epochs) + "; needs at least 1");
  }
  if (options.validation_batch < 0) {
    throw std::invalid_argument("[fit] validation_batch is " + std::to_string(options.validation_batch) +
                                "; needs at least 1, or 0 for global_batch");
  }
  const DatasetPtr rows =
      options.class_weight.empty() ? train : with_class_weights(train, options.class_weight);
  session_->start_training(rows, options.global_batch, options.accumulate, options.on_nan);
  LoopControl control{.model = *this,
                      .position = {.epoch = options.initial_epoch, .batch = 0, .sums = {}},
                      .train = train.get(),
                      .options = &options};
  if (options.resume) control.position = options.resume->position;
  History history;
  Logs logs;
  bool finite = true;
  each(options.callbacks, [&](Callback& c) { c.on_train_begin(control); });
  if (options.resume) {
    for (const CallbackPtr& callback : options.callbacks) {
      const auto state = options.resume->callbacks.find(callback->name());
      if (state != options.resume->callbacks.end()) callback->restore(control, state->second);
    }
  }
  while (control.position.epoch < options.initial_epoch + options.epochs && !control.stop &&
         !control.stop_now) {
    const int epoch = control.position.epoch;
    each(options.callbacks, [&](Callback& c) { c.on_epoch_begin(control, epoch); });
    finite = train_epoch(control, rows, options);
    if (control.stop_now) break;
    logs = logs_of(control.position.sums, "", 0);
    if (options.on_nan == OnNan::kSkip)
      logs["skipped_steps"] = static_cast<double>(control.position.sums.skipped);
    trained_ = control.position.sums.counts;
    data_wait_s_ = control.position.sums.data_wait_s;
    if (strategy().kind() == "model_averaging") session_->average_weights();
    if (options.validation) {
      const int batch = options.validation_batch > 0 ? options.validation_batch : options.global_batch;
      const Logs values =
          evaluate(control, options.validation, {batch, options.steps_per_execution, options.callbacks});
      for (const auto& [name, value] : values) logs["val_" + name] = value;
    }
    control.position = {.epoch = epoch + 1, .batch = 0, .sums = {}};
    each(options.callbacks, [&](Callback& c) { c.on_epoch_end(control, epoch, logs); });
    for (const auto& [name, value] : logs) history.values[name].push_back(value);
    ++history.epochs;
  }
  each(options.callbacks, [&](Callback& c) { c.on_train_end(control, logs); });
  if (!finite) {
    throw NonFiniteStep("[fit] epoch " + std::to_string(control.position.epoch + 1) + ", batch " +
                        std::to_string(control.position.batch + 1) + ": " +
                        (session_->non_finite() == NonFinite::kLoss ? "the loss" : "the gradient") +
                        " of the global batch is not finite; " + std::to_string(steps()) +
                        " steps are done, and this one was not applied (on_nan: stop)");
  }
  return history;
}

Logs Model::evaluate(const DatasetPtr& dataset, const EvaluateOptions& options) {
  LoopControl control{*this};
  return evaluate(control, dataset, options);
}

Logs Model::evaluate(LoopControl& control, const DatasetPtr& dataset, const EvaluateOptions& options) {
  if (!dataset) throw std::invalid_argument("[evaluate] the data set is null");
  check_loop("evaluate", options.global_batch, options.steps_per_execution);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(dataset->rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  const double penalty = session_->penalty();
  each(options.callbacks, [&](Callback& c) { c.on_test_begin(control); });
  Pooled sums;
  if (!want_batches(options.callbacks)) {
    sums = session_->evaluate(dataset, rows, options.global_batch);
  } else {
    sums.metric_sums.resize(objective_.metrics.size());
    const std::size_t at_a_time = static_cast<std::size_t>(options.global_batch) *
                                  static_cast<std::size_t>(options.steps_per_execution);
    std::int64_t batch = 0;
    for (std::size_t first = 0; first < rows.size(); first += at_a_time) {
      const auto part = std::span(rows).subspan(first, std::min(at_a_time, rows.size() - first));
      each(options.callbacks, [&](Callback& c) { c.on_test_batch_begin(control, batch); });
      sums = session_->evaluate(dataset, part, options.global_batch, std::move(sums));
      batch += static_cast<std::int64_t>((part.size() + static_cast<std::size_t>(options.global_batch) - 1) /
                                         static_cast<std::size_t>(options.global_batch));
      each(options.callbacks,
           [&](Callback& c) { c.on_test_batch_end(control, batch - 1, logs_of(sums, "", penalty)); });
    }
  }
  const Logs logs = logs_of(sums, "", penalty);
  evaluated_ = std::move(sums.counts);
  each(options.callbacks, [&](Callback& c) { c.on_test_end(control, logs); });
  return logs;
}

Predictions Model::predict(const DatasetPtr& dataset, int global_batch) {
  if (!dataset) throw std::invalid_argument("[predict] the data set is null");
  return session_->predict(dataset, global_batch);
}

void Model::use_average() {
  if (!optimizer().averaging().active())
    throw std::invalid_argument("[model] optimizer '" + optimizer().name() + "' keeps no average of weights");
  if (steps() == 0) return;  // there is none yet
  std::vector<NamedArray> all = session_->slots();
  const std::size_t count = network_->parameters().slices().size();
  set_weights({std::make_move_iterator(all.end() - static_cast<std::ptrdiff_t>(count)),
               std::make_move_iterator(all.end())});  // the last slot; see Optimizer::all_slots
}

std::string Model::weight_hash() const {
  return hash_of(weights());
}

LayerPtr dense(int units, const std::string& activation) {
  return std::make_shared<Dense>(units, activation);
}
LayerPtr dense(int units, const DenseOptions& options) {
  return std::make_shared<Dense>(units, options);
}
LayerPtr activation(const std::string& name) {
  return std::make_shared<ActivationLayer>(name);
}
LayerPtr dropout(double rate) {
  return std::make_shared<DropoutLayer>(rate);
}
LayerPtr embedding(int tokens, int width) {
  return std::make_shared<Embedding>(tokens, width);
}
LayerPtr embedding(int tokens, int width, const Initializer& initializer) {
  return std::make_shared<Embedding>(tokens, width, initializer);
}
LayerPtr layer_norm(double epsilon) {
  return std::make_shared<LayerNorm>(epsilon);
}
LayerPtr position_embedding() {
  return std::make_shared<PositionEmbedding>();
}
LayerPtr position_embedding(const Initializer& initializer) {
  return std::make_shared<PositionEmbedding>(initializer);
}
LayerPtr self_attention(const SelfAttentionOptions& options) {
  return std::make_shared<SelfAttention>(options);
}
LayerPtr residual(std::vector<LayerPtr> branch, const ResidualOptions& options) {
  return std::make_shared<Residual>(std::move(branch), options);
}

std::string hash_of(const std::vector<NamedArray>& arrays) {
  std::uint64_t hash = 14695981039346656037U;
  for (const NamedArray& array : arrays) {
    for (const float value : array.values) {
      const auto bits = std::bit_cast<std::uint32_t>(value);
      for (int byte = 0; byte < 4; ++byte) hash = (hash ^ ((bits >> (8 * byte)) & 0xFFU)) * 1099511628211U;
    }
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace mirrorscale::strategies

#pragma once
#include "strategies/callbacks.h"
#include "strategies/engine/dense.h"
#include "strategies/engine/initializer.h"
#include "strategies/engine/residual.h"
#include "strategies/engine/scope_tag.h"
#include "strategies/engine/self_attention.h"
#include "strategies/input/class_weights.h"
#include "strategies/session.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

struct ModelOptions {
  std::string name = "model";
  std::uint64_t seed = 1;  // of the initial weights, and of randomness in layers
};

struct FitOptions {
  int epochs = 1;
  int global_batch = 32;  // rows a step, over all replicas
  /// Pieces in which each replica works through its share of a step, to save memory; see
  /// Session::start_training. A step stays a step: schedules, logs and checkpoints don't see pieces.
  int accumulate = 1;
  OnNan on_nan = OnNan::kContinue;
  bool shuffle = true;
  std::uint64_t seed = 1;  // of the order of rows
  int initial_epoch = 0;
  DatasetPtr validation = nullptr;
  int validation_batch = 0;     // 0: global_batch
  int steps_per_execution = 1;  // batches between two batch callbacks
  std::vector<CallbackPtr> callbacks = {};
  /// Multiplies the sample weights of the training rows (not of the validation's), and so weighs loss and
  /// metrics; the mean is still over the summed weight, where Keras divides by the number of rows.
  ClassWeights class_weight = {};
  /// Go on from here instead of the beginning of initial_epoch: set by restore
  /// (checkpoint/training_state.h). `epochs` are then those of the whole training.
  std::optional<LoopState> resume = {};
};

struct EvaluateOptions {
  int global_batch = 256;
  int steps_per_execution = 1;
  std::vector<CallbackPtr> callbacks = {};
};

/// Values of each epoch, by name (see Logs).
struct History {
  std::map<std::string, std::vector<double>> values;
  int epochs = 0;
};

/// A stack of layers under a strategy, in the spirit of Keras. Build and compile it inside
/// `strategy.scope()`: it remembers the strategy, and fit, evaluate and predict then work anywhere.
///
///   const Mirrored strategy(2);
///   std::optional<Model> model;
///   {
///     const Scope scope = strategy.scope();
///     model.emplace(784, std::vector<LayerPtr>{dense(512, "relu"), dense(10)});
///     model->compile("adam", "sparse_categorical_crossentropy_from_logits", {"accuracy"});
///   }
///   model->fit(data, {.epochs = 5, .global_batch = 256});
class Model {
 public:
  /// Throws std::invalid_argument for shapes that don't fit.
  Model(const Shape& in, const std::vector<LayerPtr>& layers, const ModelOptions& options = {});
  Model(Model&&) = default;

  /// Throws std::invalid_argument when the model, the optimizer or a metric was made in another scope than
  /// the one it is compiled in, saying what to move where.
  void compile(OptimizerPtr optimizer, LossPtr loss, std::vector<MetricPtr> metrics = {},
               std::vector<CountMetricPtr> counted = {});
  /// By name; see make_optimizer, make_loss, make_metric and make_count_metric.
  void compile(const std::string& optimizer, const std::string& loss,
               const std::vector<std::string>& metrics = {}, const OptimizerContext& context = {});

  /// Trains. The reported loss of an epoch is pooled over its batches, each measured before its update.
  /// With OnNan::kSkip the logs of an epoch have "skipped_steps". Throws NonFiniteStep, after the callbacks,
  /// where OnNan::kStop ends it.
  History fit(const DatasetPtr& train, const FitOptions& options);
  Logs evaluate(const DatasetPtr& dataset, const EvaluateOptions& options = {});
  Predictions predict(const DatasetPtr& dataset, int global_batch = 256);
  /// The tables of the metrics that have one (confusion), by the metric's name: of the last evaluation,
  /// validation included, and of the last whole epoch of training.
  std::map<std::string, CountTable> evaluation_tables() const { return tables_of(evaluated_); }
  std::map<std::string, CountTable> training_tables() const { return tables_of(trained_); }

  const std::string& name() const { return options_.name; }
  std::uint64_t seed() const { return options_.seed; }
  const Strategy& strategy() const { return session_->strategy(); }
  const Network& network() const { return *network_; }
  const Objective& objective() const { return objective_; }
  Session& session() { return *session_; }
  Optimizer& optimizer();
  const Optimizer& optimizer() const;
  /// Of the last whole epoch of training, since it began or was gone on with; see Pooled.
  double data_wait_s() const { return data_wait_s_; }
  std::int64_t steps() const { return session_->steps(); }
  std::vector<NamedArray> weights() const { return session_->weights(); }
  void set_weights(const std::vector<NamedArray>& arrays) { session_->set_weights(arrays); }
  std::vector<NamedArray> slots() const { return session_->slots(); }
  /// Sets the weights to their average over steps (Optimizer::averaging); it and the other slots stay. Keras'
  /// fit does so at its end; here it is asked for, so that a training can go on from the weights. Throws
  /// std::invalid_argument where the optimizer keeps none.
  void use_average();
  /// FNV-1a 64 over the row-major float bits of all parameters, little-endian, in order: the same on every
  /// correct machine.
  std::string weight_hash() const;

 private:
  Logs logs_of(const Pooled& pooled, const std::string& prefix, double penalty) const;
  /// Trains the batches from control.position on, and moves it; false where a step was not finite and ended
  /// it.
  bool train_epoch(LoopControl& control, const DatasetPtr& train, const FitOptions& options);
  Logs evaluate(LoopControl& control, const DatasetPtr& dataset, const EvaluateOptions& options);
  void check_scope() const;
  std::map<std::string, CountTable> tables_of(const std::vector<std::int64_t>& counts) const;

  ModelOptions options_;
  ScopeTag scope_ = current_scope();
  std::shared_ptr<const Network> network_;
  std::unique_ptr<Session> session_;
  Objective objective_;
  std::vector<std::int64_t> trained_, evaluated_;  // counts
  double data_wait_s_ = 0;
};

LayerPtr dense(int units, const std::string& activation = "linear");
LayerPtr dense(int units, const DenseOptions& options);
LayerPtr activation(const std::string& name);
LayerPtr dropout(double rate);
LayerPtr embedding(int tokens, int width);
LayerPtr embedding(int tokens, int width, const Initializer& initializer);
LayerPtr layer_norm(double epsilon = 1e-5);
LayerPtr position_embedding();
LayerPtr position_embedding(const Initializer& initializer);
LayerPtr self_attention(const SelfAttentionOptions& options);
LayerPtr residual(std::vector<LayerPtr> branch, const ResidualOptions& options = {});

/// The hash of Model::weight_hash.
std::string hash_of(const std::vector<NamedArray>& arrays);

}  // namespace mirrorscale::strategies

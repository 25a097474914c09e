#pragma once
#include "strategies/session.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

class Model;
struct FitOptions;

/// Values by name: "loss", a metric's name, and with "val_" in front those of the validation data.
using Logs = std::map<std::string, double>;

/// What a callback may see and do; lives as long as the fit or evaluate it belongs to.
struct LoopControl {
  Model& model;
  bool stop = false;      // fit ends after this epoch's callbacks
  bool stop_now = false;  // fit ends before the next steps: without the rest of the epoch, or its callbacks
  TrainingPosition position = {};  // of fit
  // Of fit; null in an evaluation of its own.
  const Dataset* train = nullptr;
  const FitOptions* options = nullptr;
};

/// What a callback must know to go on as if the training had never been interrupted.
struct CallbackState {
  std::map<std::string, double> numbers;
  std::vector<NamedArray> arrays;
};

/// Where fit goes on.
struct LoopState {
  TrainingPosition position;
  std::map<std::string, CallbackState> callbacks;  // by name
};

/// Called on the calling thread of fit or evaluate, between steps: never while replicas work. Batches are
/// counted from 0 in each epoch; with steps_per_execution > 1 a batch callback gets the first (begin) or last
/// (end) batch of an execution. The logs of a batch are pooled over the epoch (or evaluation) so far.
class Callback {
 public:
  virtual ~Callback() = default;
  /// True when the callback wants the batch functions; otherwise an epoch runs without stopping for
  /// callbacks.
  virtual bool wants_batches() const { return false; }
  /// The most steps, at least 1, that may be done before this callback's next batch function, where `done`
  /// optimizer steps are done.
  virtual std::int64_t most_steps(std::int64_t /*done*/) const {
    return std::numeric_limits<std::int64_t>::max();
  }
  /// Whether the learning rate is this callback's state.
  virtual bool sets_learning_rate() const { return false; }
  /// A callback with a state has a name: its state is found under it in a checkpoint.
  virtual std::string name() const { return {}; }
  virtual CallbackState state() const { return {}; }
  /// After on_train_begin.
  virtual void restore(LoopControl&, const CallbackState&) {}
  /// A training that goes on inside an epoch begins that epoch again, at a later batch.
  virtual void on_train_begin(LoopControl&) {}
  virtual void on_train_end(LoopControl&, const Logs&) {}
  virtual void on_epoch_begin(LoopControl&, int /*epoch*/) {}
  virtual void on_epoch_end(LoopControl&, int /*epoch*/, const Logs&) {}
  virtual void on_train_batch_begin(LoopControl&, std::int64_t /*batch*/) {}
  virtual void on_train_batch_end(LoopControl&, std::int64_t /*batch*/, const Logs&) {}
  virtual void on_test_begin(LoopControl&) {}
  virtual void on_test_end(LoopControl&, const Logs&) {}
  virtual void on_test_batch_begin(LoopControl&, std::int64_t /*batch*/) {}
  virtual void on_test_batch_end(LoopControl&, std::int64_t /*batch*/, const Logs&) {}
};
using CallbackPtr = std::shared_ptr<Callback>;

/// Stops when `monitor` has not improved by more than `min_delta` for `patience` epochs in a row.
struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  int patience = 0;
  bool larger_is_better = false;
  bool restore_best_weights = false;
};
/// Throws std::invalid_argument from fit when the logs don't have `monitor`, listing what they have.
CallbackPtr early_stopping(const EarlyStoppingOptions& options = {});

/// rate(epoch, rate of the epoch before) is the learning rate of each epoch.
CallbackPtr learning_rate_scheduler(std::function<double(int epoch, double rate)> rate);

/// The value of `name`. Throws std::invalid_argument that lists what the logs have; `asker` begins the text.
double value_in(const Logs& logs, const std::string& name, const char* asker);

/// Calls `each` after every epoch: for progress lines.
CallbackPtr on_epoch_end(std::function<void(int epoch, const Logs&)> each);

}  // namespace mirrorscale::strategies

#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

class Model;

/// Values by name: "loss", a metric's name, and with "val_" in front those of the validation data.
using Logs = std::map<std::string, double>;

/// What a callback may see and do; lives as long as the fit or evaluate it belongs to.
struct LoopControl {
  Model& model;
  bool stop = false;  // fit ends after this epoch's callbacks
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

/// Calls `each` after every epoch: for progress lines.
CallbackPtr on_epoch_end(std::function<void(int epoch, const Logs&)> each);

}  // namespace mirrorscale::strategies

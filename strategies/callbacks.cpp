#include "strategies/callbacks.h"

#include "strategies/model.h"

#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

class EarlyStopping final : public Callback {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options) : options_(std::move(options)) {
    if (options_.patience < 0) {
      throw std::invalid_argument("[early_stopping] patience is " + std::to_string(options_.patience) +
                                  "; needs at least 0");
    }
  }
  void on_train_begin(LoopControl&) override {
    best_ = std::numeric_limits<double>::quiet_NaN();
    waited_ = 0;
    best_weights_.clear();
  }
  void on_epoch_end(LoopControl& control, int /*epoch*/, const Logs& logs) override {
    const auto found = logs.find(options_.monitor);
    if (found == logs.end()) {
      std::string known;
      for (const auto& [name, value] : logs) known += " " + name;
      throw std::invalid_argument("[early_stopping] no '" + options_.monitor +
                                  "' in the logs; there are:" + known);
    }
    const double gain = options_.larger_is_better ? found->second - best_ : best_ - found->second;
    if (best_ != best_ || gain > options_.min_delta) {
      best_ = found->second;
      waited_ = 0;
      if (options_.restore_best_weights) best_weights_ = control.model.weights();
      return;
    }
    control.stop = control.stop || ++waited_ > options_.patience - (options_.patience > 0 ? 1 : 0);
  }
  void on_train_end(LoopControl& control, const Logs&) override {
    if (!best_weights_.empty()) control.model.set_weights(best_weights_);
  }

 private:
  const EarlyStoppingOptions options_;
  double best_ = 0;
  int waited_ = 0;
  std::vector<NamedArray> best_weights_;
};

class RateScheduler final : public Callback {
 public:
  explicit RateScheduler(std::function<double(int, double)> rate) : rate_(std::move(rate)) {}
  void on_epoch_begin(LoopControl& control, int epoch) override {
    Optimizer& optimizer = control.model.optimizer();
    optimizer.set_learning_rate(rate_(epoch, optimizer.learning_rate(control.model.steps())));
  }

 private:
  const std::function<double(int, double)> rate_;
};

class EpochEnd final : public Callback {
 public:
  explicit EpochEnd(std::function<void(int, const Logs&)> each) : each_(std::move(each)) {}
  void on_epoch_end(LoopControl&, int epoch, const Logs& logs) override { each_(epoch, logs); }

 private:
  const std::function<void(int, const Logs&)> each_;
};

}  // namespace

CallbackPtr early_stopping(const EarlyStoppingOptions& options) {
  return std::make_shared<EarlyStopping>(options);
}

CallbackPtr learning_rate_scheduler(std::function<double(int, double)> rate) {
  return std::make_shared<RateScheduler>(std::move(rate));
}

CallbackPtr on_epoch_end(std::function<void(int, const Logs&)> each) {
  return std::make_shared<EpochEnd>(std::move(each));
}

}  // namespace mirrorscale::strategies

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
    const double value = value_in(logs, options_.monitor, "early_stopping");
    const double gain = options_.larger_is_better ? value - best_ : best_ - value;
    if (best_ != best_ || gain > options_.min_delta) {
      best_ = value;
      waited_ = 0;
      if (options_.restore_best_weights) best_weights_ = control.model.weights();
      return;
    }
    control.stop = control.stop || ++waited_ > options_.patience - (options_.patience > 0 ? 1 : 0);
  }
  void on_train_end(LoopControl& control, const Logs&) override {
    if (!best_weights_.empty() && !control.stop_now) control.model.set_weights(best_weights_);
  }

  std::string name() const override { return "early_stopping"; }
  CallbackState state() const override {
    return {{{"best", best_}, {"waited", static_cast<double>(waited_)}}, best_weights_};
  }
  void restore(LoopControl& control, const CallbackState& state) override {
    best_ = state.numbers.at("best");
    waited_ = static_cast<int>(state.numbers.at("waited"));
    best_weights_ = state.arrays;
    // Stopped by the last epoch before: on_epoch_end won't come again.
    control.stop =
        control.stop || (waited_ > 0 && waited_ > options_.patience - (options_.patience > 0 ? 1 : 0));
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
  void on_train_begin(LoopControl&) override { epoch_ = -1; }
  void on_epoch_begin(LoopControl& control, int epoch) override {
    Optimizer& optimizer = control.model.optimizer();
    if (epoch != epoch_) set_rate_ = rate_(epoch, optimizer.learning_rate(control.model.steps()));
    epoch_ = epoch;
    optimizer.set_learning_rate(set_rate_);
  }

  bool sets_learning_rate() const override { return true; }
  std::string name() const override { return "learning_rate_scheduler"; }
  CallbackState state() const override {
    if (epoch_ < 0) return {};
    return {{{"epoch", static_cast<double>(epoch_)}, {"rate", set_rate_}}, {}};
  }
  void restore(LoopControl& control, const CallbackState& state) override {
    epoch_ = static_cast<int>(state.numbers.at("epoch"));
    set_rate_ = state.numbers.at("rate");
    control.model.optimizer().set_learning_rate(set_rate_);
  }

 private:
  const std::function<double(int, double)> rate_;
  int epoch_ = -1;  // for which the rate was set
  double set_rate_ = 0;
};

class EpochEnd final : public Callback {
 public:
  explicit EpochEnd(std::function<void(int, const Logs&)> each) : each_(std::move(each)) {}
  void on_epoch_end(LoopControl&, int epoch, const Logs& logs) override { each_(epoch, logs); }

 private:
  const std::function<void(int, const Logs&)> each_;
};

}  // namespace

double value_in(const Logs& logs, const std::string& name, const char* asker) {
  const auto found = logs.find(name);
  if (found != logs.end()) return found->second;
  std::string known;
  for (const auto& [other, value] : logs) known += " " + other;
  throw std::invalid_argument("[" + std::string(asker) + "] no '" + name +
                              "' in the logs; there are:" + known);
}

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

#include "strategies/checkpoint/save_checkpoints.h"

#include "strategies/checkpoint/folder.h"
#include "strategies/checkpoint/training_state.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

class SaveCheckpoints final : public Callback {
 public:
  explicit SaveCheckpoints(const SaveOptions& options)
      : options_(options), folder_(options.folder, options.keep_last) {
    if (options_.every_steps < 0) {
      throw std::invalid_argument("[checkpoint] every_steps is " + std::to_string(options_.every_steps) +
                                  "; needs at least 1, or 0 for the end of each epoch");
    }
  }

  std::string name() const override { return "checkpoints"; }
  bool wants_batches() const override { return true; }
  std::int64_t most_steps(std::int64_t done) const override {
    return options_.every_steps == 0 ? std::numeric_limits<std::int64_t>::max()
                                     : options_.every_steps - done % options_.every_steps;
  }

  void on_train_begin(LoopControl& control) override {
    saved_at_ = -1;
    best_ = std::numeric_limits<double>::quiet_NaN();
    capture(control);  // what can't be saved is refused before the first step
  }
  void on_train_batch_end(LoopControl& control, std::int64_t, const Logs&) override {
    const bool due = options_.every_steps > 0 && control.model.steps() % options_.every_steps == 0;
    if (due || control.stop_now) save(control);
  }
  void on_epoch_end(LoopControl& control, int, const Logs& logs) override {
    if (!options_.best.empty()) look_for_best(control, logs);
    if (options_.every_steps == 0) save(control);
  }
  void on_train_end(LoopControl& control, const Logs&) override {
    if (saved_at_ != control.model.steps()) save(control);
  }

  CallbackState state() const override {
    if (std::isnan(best_)) return {};
    return {.numbers = {{"best", best_}}, .arrays = {}};
  }
  void restore(LoopControl&, const CallbackState& state) override {
    if (const auto found = state.numbers.find("best"); found != state.numbers.end()) best_ = found->second;
  }

 private:
  void save(const LoopControl& control) {
    folder_.save(control.model.steps(), capture(control));
    saved_at_ = control.model.steps();
  }

  void look_for_best(const LoopControl& control, const Logs& logs) {
    const double value = value_in(logs, options_.best, "checkpoint");
    const bool better = options_.larger_is_better ? value > best_ : value < best_;
    if (!std::isnan(best_) && !better) return;
    best_ = value;
    folder_.save_best(capture(control));
  }

  const SaveOptions options_;
  const CheckpointFolder folder_;
  std::int64_t saved_at_ = -1;  // optimizer steps
  double best_ = 0;             // NaN: none yet
};

}  // namespace

CallbackPtr save_checkpoints(const SaveOptions& options) {
  return std::make_shared<SaveCheckpoints>(options);
}

}  // namespace mirrorscale::strategies

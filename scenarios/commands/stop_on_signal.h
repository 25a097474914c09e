#pragma once
#include "harness/measure/clock.h"
#include "strategies/callbacks.h"

namespace mirrorscale::scenarios {

/// While it lives, the first SIGINT or SIGTERM ends fit after the step at hand, or after the validation at
/// hand; a second one ends the process as if there were no StopOnSignal. One at a time.
class StopOnSignal final : public strategies::Callback {
 public:
  StopOnSignal();
  ~StopOnSignal() override;
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  /// The signal that came; 0: none.
  int signal() const;

  bool wants_batches() const override { return true; }
  /// About half a second of steps, by the time of those before.
  std::int64_t most_steps(std::int64_t done) const override;
  void on_train_batch_begin(strategies::LoopControl&, std::int64_t batch) override;
  void on_train_batch_end(strategies::LoopControl&, std::int64_t batch, const strategies::Logs&) override;
  void on_epoch_end(strategies::LoopControl&, int epoch, const strategies::Logs&) override;

 private:
  harness::SteadyClock clock_;
  std::int64_t first_batch_ = 0, most_ = 1;
  double begin_s_ = 0;
};

}  // namespace mirrorscale::scenarios

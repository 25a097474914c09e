#pragma once
#include "harness/measure/clock.h"
#include "harness/output/progress.h"
#include "strategies/callbacks.h"

#include <cstdint>
#include <string>

namespace mirrorscale::scenarios {

/// "loss 0.4512 - accuracy 0.8410": the loss first, then metrics, then the same of the validation data.
std::string in_words(const strategies::Logs& logs);
/// Rows as lines, each after its number.
std::string in_words(const strategies::CountTable& table);

/// A line an epoch on standard output, as users of Keras know it; on a terminal also where the epoch is.
/// Rates are of training alone: validation is not counted.
class EpochPrinter final : public strategies::Callback {
 public:
  EpochPrinter(int epochs, std::int64_t rows, int global_batch);
  bool wants_batches() const override { return terminal_; }
  void on_epoch_begin(strategies::LoopControl& control, int epoch) override;
  void on_train_batch_end(strategies::LoopControl& control, std::int64_t batch,
                          const strategies::Logs& logs) override;
  void on_test_begin(strategies::LoopControl& control) override;
  void on_epoch_end(strategies::LoopControl& control, int epoch, const strategies::Logs& logs) override;

 private:
  const int epochs_;
  const std::int64_t rows_, batches_;
  const bool terminal_;
  harness::SteadyClock clock_;
  harness::ProgressLine progress_;
  int epoch_ = 0;
  std::int64_t rows_before_ = 0;  // of the epoch, done before a training that goes on
  double begin_s_ = 0, trained_s_ = 0;
};

}  // namespace mirrorscale::scenarios

#include "scenarios/commands/stop_on_signal.h"

#include <algorithm>
#include <csignal>

namespace mirrorscale::scenarios {
namespace {

constexpr double kAnswer_s = 0.5;  // a job manager's grace is some seconds
constexpr std::int64_t kMost = 1 << 20;

volatile std::sig_atomic_t came = 0;

void note(int signal) {
  came = signal;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

StopOnSignal::StopOnSignal() {
  came = 0;
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

StopOnSignal::~StopOnSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int StopOnSignal::signal() const {
  return came;
}

std::int64_t StopOnSignal::most_steps(std::int64_t) const {
  return most_;
}

void StopOnSignal::on_train_batch_begin(strategies::LoopControl&, std::int64_t batch) {
  first_batch_ = batch;
  begin_s_ = clock_.now_s();
}

void StopOnSignal::on_train_batch_end(strategies::LoopControl& control, std::int64_t batch,
                                      const strategies::Logs&) {
  const double step_s = (clock_.now_s() - begin_s_) / static_cast<double>(batch - first_batch_ + 1);
  most_ = step_s * static_cast<double>(kMost) < kAnswer_s
              ? kMost
              : std::max<std::int64_t>(1, static_cast<std::int64_t>(kAnswer_s / step_s));
  if (came != 0) control.stop_now = true;
}

void StopOnSignal::on_epoch_end(strategies::LoopControl& control, int, const strategies::Logs&) {
  if (came != 0) control.stop_now = true;
}

}  // namespace mirrorscale::scenarios

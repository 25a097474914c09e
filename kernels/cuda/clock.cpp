#include "kernels/cuda/clock.h"

#include "kernels/cuda/order.h"

#include <chrono>
#include <limits>
#include <utility>

namespace mirrorscale::kernels::cuda {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

DeviceClock::DeviceClock(cudaStream_t stream) {
  double best_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 5; ++i) {  // the shortest round trip says it best
    Event event = make_event(cudaEventDefault);
    const double before_s = now_s();
    set_mark(event.get(), stream);
    wait_on_host(event.get());
    const double round_trip_s = now_s() - before_s;
    if (round_trip_s >= best_s) continue;
    best_s = round_trip_s;
    base_ = std::move(event);
    base_s_ = before_s + round_trip_s / 2;
  }
  for (Moment& moment : moments_) moment.event = make_event(cudaEventDefault);
}

void DeviceClock::mark(int number, cudaStream_t stream) {
  Moment& moment = moments_.at(static_cast<std::size_t>(number));
  set_mark(moment.event.get(), stream);
  moment.known = false;
}

double DeviceClock::marked_s(int number) {
  Moment& moment = moments_.at(static_cast<std::size_t>(number));
  if (moment.known) return moment.s;
  wait_on_host(moment.event.get());
  float elapsed_ms = 0;
  check(cudaEventElapsedTime(&elapsed_ms, base_.get(), moment.event.get()), "read the time of a mark");
  moment.s = base_s_ + static_cast<double>(elapsed_ms) * 1e-3;
  moment.known = true;
  if (elapsed_ms > 1000) {  // the time comes as a float: a base long ago would make it coarse
    std::swap(base_, moment.event);
    base_s_ = moment.s;
  }
  return moment.s;
}

}  // namespace mirrorscale::kernels::cuda

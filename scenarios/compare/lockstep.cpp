#include "scenarios/compare/lockstep.h"

#include "harness/measure/clock.h"
#include "scenarios/compare/plan.h"
#include "scenarios/compare/worker_process.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace mirrorscale::scenarios {
namespace {

constexpr int kThrownAway = 3;  // pairs, until both know each other's traces in the caches
constexpr int kFewestPairs = 4;

std::unique_ptr<WorkerProcess> start(const Sides& sides, SharedLockstep& memory, int seat) {
  const std::string& binary = seat == 0 ? sides.binary_a : sides.binary_b;
  std::vector<std::string> arguments{binary,   "compare-worker",    "--memory", std::to_string(kWorkerMemory),
                                     "--seat", std::to_string(seat)};
  const std::vector<std::string> cell = arguments_of(seat == 0 ? sides.a : sides.b);
  arguments.insert(arguments.end(), cell.begin(), cell.end());
  if (seat == 1 && sides.planted_b > 0) {
    arguments.insert(arguments.end(), {"--plant-slowdown", std::to_string(sides.planted_b)});
  }
  return std::make_unique<WorkerProcess>(
      arguments, memory, seat, std::string("side ") + (seat == 0 ? "A" : "B") + " (" + binary + ")");
}

TimedSlice slice_of(WorkerProcess& worker, int steps, double limit_s) {
  const LockstepSeat& seat = worker.carry_out(Order::kSlice, steps, std::chrono::duration<double>(limit_s));
  return {seat.seconds, seat.cpu_s, seat.preemptions};
}

}  // namespace

Restart run_restart(const Sides& sides, const LockstepOptions& options, std::mt19937_64& random) {
  SharedLockstep memory;
  std::unique_ptr<WorkerProcess> workers[2];
  // Where A and B are the same, nothing but a coin tells them apart: also not who came first.
  const int first = static_cast<int>(random() % 2);
  for (const int seat : {first, 1 - first}) workers[seat] = start(sides, memory, seat);
  Restart restart;
  double step_s = 0;
  for (const int seat : {first, 1 - first}) {
    const LockstepSeat& ready =
        workers[seat]->carry_out(Order::kPrepare, 0, std::chrono::duration<double>(options.prepare_limit_s));
    step_s = std::max(step_s, ready.step_s);
    restart.warmup_steps += ready.warmup_steps;
    restart.settled = restart.settled && ready.settled != 0;
    restart.planted_s = std::max(restart.planted_s, ready.planted_s);
  }
  const int steps = static_cast<int>(std::clamp(std::ceil(options.slice_s / step_s), 1.0, 1e4));
  restart.steps_per_slice = steps;
  // A slice may wait for other processes, and its replicas for each other.
  const double limit_s = std::max(sides.a.wait_limit_s, sides.b.wait_limit_s) + 100 * steps * step_s;
  const harness::SteadyClock clock;
  int taken = 0;
  while (clock.now_s() < options.seconds || taken < kThrownAway + kFewestPairs) {
    SlicePair pair{.a_first = random() % 2 == 0, .a = {}, .b = {}};
    for (const int seat : {pair.a_first ? 0 : 1, pair.a_first ? 1 : 0}) {
      (seat == 0 ? pair.a : pair.b) = slice_of(*workers[seat], steps, limit_s);
    }
    if (++taken > kThrownAway) restart.pairs.push_back(pair);
  }
  return restart;
}

}  // namespace mirrorscale::scenarios

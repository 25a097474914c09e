#include "scenarios/compare/worker.h"

#include "harness/measure/summary.h"
#include "scenarios/cells/steady.h"
#include "scenarios/cells/training_loop.h"
#include "scenarios/compare/lockstep_memory.h"
#include "scenarios/faults/slow_reducer.h"
#include "scenarios/workloads/data_source.h"
#include "strategies/timeline.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

constexpr std::chrono::minutes kLongestRest{10};
constexpr double kWorthAWord = 0.02;  // of a slice, that its threads waited for cores

/// What the process has used so far, all threads together.
struct Usage {
  double cpu_s;
  std::int64_t preemptions;
};

/// Ready to run, and without a core.
double waited_for_cores_s() {
  double waited = 0;
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::ifstream file(task.path() / "schedstat");
    double ran_ns = 0, waited_ns = 0;
    if (file >> ran_ns >> waited_ns) waited += waited_ns * 1e-9;
  }
  return waited;
}

Usage usage_now() {
  timespec cpu{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) * 1e-9, usage.ru_nivcsw};
}

/// The cell, ready to train.
class WorkerCell {
 public:
  WorkerCell(const WorkerOptions& options, const strategies::DatasetPtr& data)
      : turns_(std::make_shared<SpinTurns>()),
        strategy_(make_strategy(options.cell, parts(options))),
        model_(make_model(options.cell, *data, strategy_)),
        loop_(model_, data, options.cell.global_batch, options.cell.seed) {
    steady_ = warm_up([this] { return loop_.run(1); }, 0);
    if (options.planted_slowdown > 0) plant(options.planted_slowdown);
    step_s_ = median_step();
  }

  TrainingLoop& loop() { return loop_; }
  void describe(LockstepSeat& seat) const {
    seat.warmup_steps = steady_.warmup_steps;
    seat.settled = steady_.settled ? 1 : 0;
    seat.step_s = step_s_;
    seat.planted_s = planted_s_;
  }

 private:
  static constexpr int kLooks = 15;

  strategies::EngineParts parts(const WorkerOptions& options) const {
    strategies::EngineParts parts = parts_of(options.cell);
    if (options.planted_slowdown > 0) {
      parts.make_reducer = [make = parts.make_reducer, turns = turns_] {
        return slow_reducer(make(), turns);
      };
    }
    return parts;
  }

  double median_step() {
    loop_.run(kLooks);
    return *harness::median(loop_.last_step_times_s());
  }

  /// How many turns are that share of a step: steps and turns are timed in alternation, on the devices'
  /// threads.
  void plant(double share) {
    constexpr std::int64_t kProbe = 200'000;
    std::vector<double> turns_a_step;
    for (int i = 0; i < 3 * kLooks; ++i) {
      const double step_s = loop_.run(3) / 3;
      double slowest_s = 0;
      std::vector<double> took(static_cast<std::size_t>(strategy_.replicas()));
      strategy_.run([&](const strategies::ReplicaContext& replica) {
        replica.communicator.barrier("calibration");
        const double start = strategies::now_s();
        spin(kProbe);
        took[static_cast<std::size_t>(replica.replica_id)] = strategies::now_s() - start;
      });
      slowest_s = *std::ranges::max_element(took);
      turns_a_step.push_back(step_s / slowest_s * kProbe);
    }
    const double turns = share * *harness::median(turns_a_step);
    turns_->each_step = std::llround(turns);
    planted_s_ = share * median_step();
  }

  std::shared_ptr<SpinTurns> turns_;
  strategies::Strategy strategy_;
  strategies::Model model_;
  TrainingLoop loop_;
  Steady steady_;
  double step_s_ = 0, planted_s_ = 0;
};

/// Sleeps until there is an order; throws when there is none for too long.
void wait_for_order(LockstepSeat& seat, std::uint32_t carried_out) {
  const auto deadline = std::chrono::steady_clock::now() + kLongestRest;
  while (seat.orders.load() == carried_out) {
    if (!wait_for_change(seat.orders, carried_out, deadline)) {
      throw std::runtime_error("[compare-worker] no order from the parent for 10 minutes");
    }
  }
}

void answer(LockstepMemory& memory, LockstepSeat& seat) {
  seat.done.store(seat.orders.load());
  memory.bell.fetch_add(1);
  wake_all(memory.bell);
}

void run_slice(TrainingLoop& loop, LockstepSeat& seat) {
  const double waited_before_s = waited_for_cores_s();  // outside of what is counted
  const Usage before = usage_now();
  seat.seconds = loop.run(seat.steps);
  const Usage after = usage_now();
  seat.cpu_s = after.cpu_s - before.cpu_s;
  // Threads of one process take turns too, for a moment: that is no preemption worth a word.
  const bool disturbed = waited_for_cores_s() - waited_before_s > kWorthAWord * seat.seconds;
  seat.preemptions = disturbed ? std::max<std::int64_t>(1, after.preemptions - before.preemptions) : 0;
}

}  // namespace

void run_worker(const WorkerOptions& options) {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return;  // it went before we asked
  const SharedLockstep memory(options.memory_descriptor);
  LockstepSeat& seat = memory->seats[options.seat];
  try {
    // Not timed, and done while the other side has the token.
    const strategies::DatasetPtr data = load_data(options.cell.data, options.cell.seed).train;
    std::optional<WorkerCell> cell;
    for (std::uint32_t carried_out = 0;; ++carried_out) {
      wait_for_order(seat, carried_out);
      if (seat.order == Order::kEnd) break;
      if (seat.order == Order::kPrepare) {
        cell.emplace(options, data);
        cell->describe(seat);
      } else {
        if (!cell) throw std::logic_error("[compare-worker] a slice before kPrepare");
        run_slice(cell->loop(), seat);
      }
      answer(*memory, seat);
    }
  } catch (const std::exception& error) {
    set_text(seat, error.what());
    seat.failed.store(1);
    answer(*memory, seat);
    throw;
  }
}

}  // namespace mirrorscale::scenarios

#include "harness/output/format.h"
#include "harness/record/environment.h"
#include "kernels/device_list.h"
#include "scenarios/cells/room.h"
#include "scenarios/commands/command.h"
#include "scenarios/commands/devices.h"
#include "scenarios/exit_status.h"
#include "scenarios/workloads/data_source.h"
#include "scenarios/workloads/workload.h"
#include "strategies/session.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>

namespace mirrorscale::scenarios {
namespace {

constexpr double kAgrees = 0.05;  // planned and measured bytes, where --check is asked for

struct FitBatchOptions {
  std::string workload = "mlp", data, devices = "1", optimizer;
  DeviceOptions on;
  int accumulate = 1;
  std::uint64_t seed = 1, memory_bytes = 0;
  double headroom = 0.1;
  bool check = false, plain = false;
};

std::string size(std::size_t bytes) {
  return harness::format_bytes(static_cast<std::int64_t>(bytes));
}

/// Bytes of a device that training may take, and where that comes from.
struct Room {
  std::size_t bytes = 0;
  std::string source;
};

Room room_of(const FitBatchOptions& options, const strategies::Strategy& strategy) {
  if (options.memory_bytes > 0) return {options.memory_bytes, "--memory"};
  const std::string kept = harness::format_percent(options.headroom) + " kept back";
  const auto share = [&](std::size_t bytes) {
    return static_cast<std::size_t>(static_cast<double>(bytes) * (1 - options.headroom));
  };
  if (strategy.backend() == "cuda") {
    std::size_t least = SIZE_MAX;
    for (int r = 0; r < strategy.replicas(); ++r)
      least = std::min(least, kernels::cuda_free_bytes(strategy.backend_options(r).ordinal));
    return {share(least), size(least) + " free on the fullest GPU, " + kept};
  }
  const auto all = static_cast<std::size_t>(harness::available_memory_bytes());
  return {share(all) / static_cast<std::size_t>(strategy.replicas()),
          size(all) + " of the host's memory available, " + kept + ", shared by " +
              std::to_string(strategy.replicas()) + (strategy.replicas() == 1 ? " device" : " devices")};
}

/// Rows beyond which an activation has more rows than the engine counts.
int most_rows(const strategies::Network& network, std::int64_t rows) {
  int positions = 1;
  for (const auto& stage : network.stages())
    positions = std::max({positions, stage.in.rows(), stage.out.rows()});
  return static_cast<int>(
      std::min<std::int64_t>(rows, std::numeric_limits<int>::max() / positions - kernels::kPanel));
}

/// Two steps at the batch, as far as there are rows. Whether memory was what the plan says.
bool check(strategies::Model& model, const strategies::SplitDataset& data, int batch, int accumulate,
           std::size_t planned) {
  strategies::Session& session = model.session();
  session.start_training(data.train, batch, accumulate);
  const auto steps = std::min<std::int64_t>(2, (data.train->rows() + batch - 1) / batch);
  session.train(strategies::UniformShuffle().order(data.train->rows(), 1, 0), 0, steps);
  if (data.test) model.evaluate(data.test, {.global_batch = batch});
  const std::size_t used = session.used_bytes();
  const double off = static_cast<double>(used) / static_cast<double>(planned) - 1;
  const bool agrees = std::abs(off) <= kAgrees;
  std::printf("measured:  %s a device after %lld steps, %+.1f %% off the plan%s\n", size(used).c_str(),
              static_cast<long long>(steps), 100 * off, agrees ? "" : ": more than 5 %");
  return agrees;
}

int fit_batch(const FitBatchOptions& options) {
  const Workload& workload = find_workload(options.workload);
  const std::string source = options.data.empty() ? workload.data : options.data;
  const strategies::Strategy strategy = strategy_on(options.devices, options.on);
  const strategies::SplitDataset data = load_data(source, options.seed);
  strategies::Model model =
      make_model(workload, *data.train, strategy, {.optimizer = options.optimizer, .seed = options.seed});
  const auto bytes_of = [&](int batch) {
    return strategies::Session::planned_bytes(strategy, model.network(), *data.train, batch,
                                              model.optimizer(), data.test.get(), options.accumulate);
  };
  const Room room = room_of(options, strategy);
  const int most = most_rows(model.network(), data.train->rows());
  const int fits = largest_batch(bytes_of, most + 1, room.bytes);
  if (fits == 0) {
    throw std::runtime_error("[fit-batch] not even one row fits: the plan needs " + size(bytes_of(1)) +
                             " a device, and there are " + size(room.bytes) + " (" + room.source +
                             "); take a smaller model, or more memory");
  }
  if (options.plain) {
    std::printf("%d\n", fits);
  } else {
    std::printf("workload:  %s on %s, %lld training rows, %zu parameters\n", options.workload.c_str(),
                source.c_str(), static_cast<long long>(data.train->rows()),
                model.network().parameters().count());
    std::printf("strategy:  %s\n", strategy.name().c_str());
    std::printf("room:      %s a device (%s)\n", size(room.bytes).c_str(), room.source.c_str());
    std::printf("fits:      global batch %d, %s a device planned\n", fits, size(bytes_of(fits)).c_str());
    if (fits < most) {
      std::printf("beyond:    global batch %d needs %s a device\n", fits + 1,
                  size(bytes_of(fits + 1)).c_str());
    } else {
      std::printf("beyond:    nothing, these are all rows\n");
    }
  }
  std::fflush(stdout);
  return !options.check || check(model, data, fits, options.accumulate, bytes_of(fits)) ? kGood : kFinding;
}

}  // namespace

void add_fit_batch(CLI::App& app, CommandContext& context) {
  auto o = std::make_shared<FitBatchOptions>();
  CLI::App* command = app.add_subcommand(
      "fit-batch",
      "The largest global batch that fits into the devices' memory, by the plan: nothing is tried");
  command->add_option("--workload", o->workload, "As in train")->capture_default_str();
  command->add_option("--data", o->data, "As in train; its test rows are planned for, too");
  command->add_option("--devices", o->devices, "How many devices, or their names")->capture_default_str();
  add_device_options(*command, o->on);
  command->add_option("--optimizer", o->optimizer, "As in train: its slots take memory");
  command->add_option("--accumulate", o->accumulate, "As in train")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  command->add_option("--seed", o->seed, "Of synthetic data")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  command
      ->add_option("--memory", o->memory_bytes,
                   "Bytes of a device, as 8GiB [what is free now, less the headroom]")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--headroom", o->headroom, "Share of what is free to keep for others")
      ->check(CLI::Range(0.0, 0.95))
      ->capture_default_str();
  command->add_flag("--check", o->check, "Train two steps at that batch, and measure");
  command->add_flag("--plain", o->plain, "Print the number only");
  command->footer(
      "Exit status: 3 when not even one row fits; 1 when --check finds the plan off by more than 5 %.");
  command->callback([o, &context] { context.status = fit_batch(*o); });
}

}  // namespace mirrorscale::scenarios

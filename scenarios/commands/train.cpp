#include "harness/output/file.h"
#include "harness/output/format.h"
#include "kernels/device_error.h"
#include "scenarios/cells/room.h"
#include "scenarios/commands/command.h"
#include "scenarios/commands/devices.h"
#include "scenarios/commands/epoch_printer.h"
#include "scenarios/commands/stop_on_signal.h"
#include "scenarios/commands/training_files.h"
#include "scenarios/commands/training_history.h"
#include "scenarios/exit_status.h"
#include "scenarios/workloads/data_source.h"
#include "scenarios/workloads/workload.h"
#include "strategies/input/npy.h"
#include "strategies/input/subset.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

namespace mirrorscale::scenarios {
namespace {

constexpr int kStepsBetweenLooks = 32;  // at the progress line, on a terminal

struct TrainOptions {
  std::string workload = "mlp", data, devices = "1", optimizer, predictions_file, on_nan = "continue";
  DeviceOptions on;
  int epochs = 5, global_batch = 256, accumulate = 1;
  std::int64_t limit_rows = 0, limit_test_rows = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> metrics, class_weights;
  double label_smoothing = 0;
  std::string history_file;
  TrainingFiles files;
};

strategies::SplitDataset load_rows(const TrainOptions& options, const std::string& source) {
  strategies::SplitDataset data = load_data(source, options.seed);
  if (options.limit_rows > 0) data.train = strategies::first_rows(data.train, options.limit_rows);
  if (options.limit_test_rows > 0 && data.test)
    data.test = strategies::first_rows(data.test, options.limit_test_rows);
  return data;
}

void print_head(const TrainOptions& options, const std::string& source, const strategies::SplitDataset& data,
                const strategies::Model& model) {
  const strategies::Strategy& strategy = model.strategy();
  std::printf("workload:  %s on %s, %lld training rows, %lld test rows\n", options.workload.c_str(),
              source.c_str(), static_cast<long long>(data.train->rows()),
              static_cast<long long>(data.test ? data.test->rows() : 0));
  std::printf("strategy:  %s, %s reduction\n", strategy.name().c_str(),
              strategy.make_reducer()->name().c_str());
  if (strategy.backend() == "cuda") {
    std::printf("numerics:  %s, %s\n", strategy.exact() ? "exact" : "fast",
                options.on.precision.empty() ? "float32" : options.on.precision.c_str());
  }
  std::printf("model:     %zu parameters, global batch %d, seed %llu\n", model.network().parameters().count(),
              options.global_batch, static_cast<unsigned long long>(options.seed));
  const std::string note = strategy.backend() == "cuda" ? "" : oversubscription_note(strategy.replicas());
  if (!note.empty()) {
    std::printf("note:      %s\n", note.c_str());
  }
  std::fflush(stdout);
}

void save_predictions(strategies::Model& model, const TrainOptions& options,
                      const strategies::DatasetPtr& rows) {
  const strategies::Predictions made = model.predict(rows, options.global_batch);
  strategies::write_npy(options.predictions_file, {made.rows, made.columns},
                        std::span<const float>(made.values));
  std::printf("predictions of %lld test rows: %s\n", static_cast<long long>(made.rows),
              options.predictions_file.c_str());
}

/// Memory of a device by global batch.
std::function<std::size_t(int)> bytes_of(const TrainOptions& options, const strategies::Strategy& strategy,
                                         const strategies::Dataset& rows,
                                         const strategies::Dataset* validation,
                                         const strategies::Model& model) {
  return [&, validation](int batch) {
    return strategies::Session::planned_bytes(strategy, model.network(), rows, batch, model.optimizer(),
                                              validation, options.accumulate,
                                              strategies::on_nan_from(options.on_nan));
  };
}

/// Status of the command.
int train(const TrainOptions& options) {
  const Workload& workload = find_workload(options.workload);
  const std::string source = options.data.empty() ? workload.data : options.data;
  const strategies::Strategy strategy = strategy_on(options.devices, options.on);
  const strategies::SplitDataset data = load_rows(options, source);
  for (const std::string& file : {options.predictions_file, options.history_file})
    if (!file.empty()) harness::require_writable(file);
  check(options.files);
  if (!options.predictions_file.empty() && !data.test) {
    throw std::invalid_argument("--predict: the data '" + source + "' have no test rows to predict");
  }
  strategies::Model model = make_model(workload, *data.train, strategy,
                                       {.optimizer = options.optimizer,
                                        .seed = options.seed,
                                        .global_batch = options.global_batch,
                                        .metrics = options.metrics,
                                        .label_smoothing = options.label_smoothing});
  print_head(options, source, data, model);
  const auto planned = bytes_of(options, strategy, *data.train, data.test.get(), model);
  std::printf("memory:    %s a device planned\n",
              harness::format_bytes(static_cast<std::int64_t>(planned(options.global_batch))).c_str());
  std::fflush(stdout);
  load_initial_weights(options.files, model);

  strategies::FitOptions fit;
  fit.epochs = options.epochs;
  fit.global_batch = options.global_batch;
  fit.accumulate = options.accumulate;
  fit.on_nan = strategies::on_nan_from(options.on_nan);
  fit.seed = options.seed;
  fit.validation = data.test;
  fit.class_weight = strategies::parse_class_weights(options.class_weights);
  fit.steps_per_execution = kStepsBetweenLooks;
  fit.callbacks = {std::make_shared<EpochPrinter>(options.epochs, data.train->rows(), options.global_batch)};
  const auto history = std::make_shared<TrainingHistory>();
  fit.callbacks.push_back(history);
  const auto signals = add_checkpoints(options.files, fit);
  resume(options.files, model, *data.train, fit);
  strategies::History run;
  try {
    run = model.fit(data.train, fit);
  } catch (const strategies::NonFiniteStep& error) {
    std::fprintf(stderr, "mirrorscale: %s%s\n", error.what(),
                 options.files.checkpoints.empty()
                     ? ""
                     : ("; the state before it is in " + options.files.checkpoints).c_str());
    return kFinding;
  } catch (const kernels::OutOfMemory& error) {
    throw std::runtime_error("[train] " + with_largest_batch(error, planned, options.global_batch));
  }

  if (signals && signals->signal() != 0) {
    std::printf("stopped by signal %d after %lld steps; go on with --resume\n", signals->signal(),
                static_cast<long long>(model.steps()));
    return kStoppedBySignal + signals->signal();
  }
  if (const auto found = run.values.find("skipped_steps"); found != run.values.end()) {
    std::printf("skipped: %.0f steps, of loss or gradient not finite\n",
                std::accumulate(found->second.begin(), found->second.end(), 0.0));
  }
  if (const auto& average = model.optimizer().averaging(); average.active()) {
    model.use_average();
    std::printf("weights: from here on their average (ema %g): test, predictions, export and hash\n",
                average.momentum);
  }
  strategies::Logs test;
  if (data.test) {
    test = model.evaluate(data.test);
    std::printf("test: %s\n", in_words(test).c_str());
    for (const auto& [name, table] : model.evaluation_tables())
      std::printf("%s of the test rows:\n%s", name.c_str(), in_words(table).c_str());
  }
  if (!options.history_file.empty()) history->write(options.history_file, model, test);
  if (!options.predictions_file.empty()) save_predictions(model, options, data.test);
  export_weights(options.files, model);
  std::printf("weight hash: %s\n", model.weight_hash().c_str());
  return kGood;
}

}  // namespace

void add_train(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand("train",
                                         "Train a workload, print an epoch a line, and the hash of the "
                                         "weights: the same on any number of devices");
  command->add_option("--workload", options->workload, "What to train; see mirrorscale list")
      ->capture_default_str();
  command->add_option(
      "--data", options->data,
      "Data source (see mirrorscale list), a folder with IDX files, a .npz file, x.npy,y.npy, or text:FILE; "
      "default: the workload's own");
  command->add_option("--devices", options->devices, "How many devices, or their names: 2, or cpu:0,cpu:1")
      ->capture_default_str();
  add_device_options(*command, options->on);
  command->add_option("--epochs", options->epochs)->check(CLI::Range(1, 1000000))->capture_default_str();
  command->add_option("--global-batch", options->global_batch, "Rows a step, over all devices")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  command
      ->add_option(
          "--accumulate", options->accumulate,
          "Work through each step's rows in so many pieces, to save memory; the weights stay the same")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  command->add_option(
      "--optimizer", options->optimizer,
      "sgd, momentum, nesterov, adam, adamw, amsgrad, rmsprop, adagrad, lamb or lars, with a rate as in "
      "sgd:0.1, and settings as in adam:0.001:clip_global_norm=1:warm_up=100 (docs/optimizers.md); default: "
      "the workload's own");
  command
      ->add_option(
          "--on-nan", options->on_nan,
          "A step whose loss or gradient is not finite: 'skip' does not apply it and counts it, 'stop' "
          "ends the training before it with status 1, 'continue' does not look")
      ->check(CLI::IsMember({"continue", "skip", "stop"}))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of initial weights, order of rows, and synthetic data")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  command->add_option("--limit-rows", options->limit_rows, "Train on the first so many rows only")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--limit-test-rows", options->limit_test_rows, "Evaluate on the first so many rows only")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--metrics", options->metrics,
                   "Measure these too, as in top_k=3,auc (docs/metrics.md): top_k, precision, recall, auc, "
                   "confusion, mse, mae, accuracy")
      ->delimiter(',');
  command
      ->add_option("--class-weight", options->class_weights,
                   "Weigh training rows by their class, as in 0=1,3=2.5; the others have 1")
      ->delimiter(',');
  command
      ->add_option("--label-smoothing", options->label_smoothing,
                   "Spread this part of each label over all classes, as Keras' label_smoothing")
      ->check(CLI::Range(0.0, 0.999));
  command->add_option("--history", options->history_file,
                      "Write what each epoch measured, and confusion matrices, to this JSON file");
  command->add_option("--predict", options->predictions_file,
                      "Write the predictions of the test rows to this .npy file");
  add_file_options(*command, options->files);
  command->callback([options, &context] { context.status = train(*options); });
}

}  // namespace mirrorscale::scenarios

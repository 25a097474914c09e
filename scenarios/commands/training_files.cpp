#include "scenarios/commands/training_files.h"

#include "harness/output/file.h"
#include "strategies/checkpoint/folder.h"
#include "strategies/checkpoint/save_checkpoints.h"
#include "strategies/checkpoint/training_state.h"
#include "strategies/checkpoint/weights_file.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

using strategies::CheckpointFolder;

/// Of the values in an epoch's logs, losses and errors are better when small.
bool larger_is_better(const std::string& name) {
  for (const char* ending : {"loss", "mse", "mae", "perplexity"}) {
    if (name.ends_with(ending)) return false;
  }
  return true;
}

}  // namespace

void add_file_options(CLI::App& command, TrainingFiles& files) {
  CLI::Option* folder = command.add_option("--checkpoint", files.checkpoints,
                                           "Save the training to this folder: at the end of each epoch, at "
                                           "the end, and when SIGINT or SIGTERM stops it");
  command
      .add_option("--save-every", files.save_every, "Save after every so many steps instead of each epoch")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()))
      ->needs(folder);
  command.add_option("--keep-last", files.keep_last, "How many checkpoints stay")
      ->check(CLI::Range(1, 1000000))
      ->needs(folder)
      ->capture_default_str();
  command
      .add_option("--keep-best", files.keep_best,
                  "Also keep the epoch with the best of this value, as in val_loss or val_accuracy")
      ->needs(folder);
  command
      .add_flag(
          "--resume", files.resume,
          "Go on from the newest checkpoint, on any number of devices, with the same bits; where there is "
          "none, begin")
      ->needs(folder);
  command.add_option(
      "--initial-weights", files.initial_weights,
      "Begin from the weights in this .npz or .safetensors file, arrays named as --export-weights does");
  command.add_option("--export-weights", files.exported_weights,
                     "Write the trained weights to this .npz or .safetensors file");
}

void check(const TrainingFiles& files) {
  if (!files.initial_weights.empty()) strategies::require_weights_name(files.initial_weights);
  if (!files.exported_weights.empty()) {
    strategies::require_weights_name(files.exported_weights);
    harness::require_writable(files.exported_weights);
  }
  if (files.checkpoints.empty()) return;
  const CheckpointFolder folder(files.checkpoints, files.keep_last);
  const auto newest = folder.newest();
  if (newest && !files.resume) {
    throw std::invalid_argument(
        "--checkpoint: " + newest->string() +
        " is there from another training; go on from it with --resume, or name another "
        "folder");
  }
}

void load_initial_weights(const TrainingFiles& files, strategies::Model& model) {
  if (files.initial_weights.empty()) return;
  model.set_weights(strategies::read_weights(files.initial_weights, model.weights()));
  std::printf("start:     weights of %s\n", files.initial_weights.c_str());
  std::fflush(stdout);
}

std::shared_ptr<StopOnSignal> add_checkpoints(const TrainingFiles& files, strategies::FitOptions& fit) {
  if (files.checkpoints.empty()) return nullptr;
  auto signals = std::make_shared<StopOnSignal>();
  fit.callbacks.push_back(signals);
  fit.callbacks.push_back(
      strategies::save_checkpoints({.folder = files.checkpoints,
                                    .every_steps = files.save_every,
                                    .keep_last = files.keep_last,
                                    .best = files.keep_best,
                                    .larger_is_better = larger_is_better(files.keep_best)}));
  return signals;
}

void resume(const TrainingFiles& files, strategies::Model& model, const strategies::Dataset& train,
            strategies::FitOptions& fit) {
  if (!files.resume) return;
  const CheckpointFolder folder(files.checkpoints, files.keep_last);
  const auto all = folder.saved();
  if (all.empty()) {
    std::printf("resume:    no checkpoint in %s: the training begins\n", files.checkpoints.c_str());
  } else {
    try {
      strategies::restore(strategies::read_part_file(all.back()), all.back().string(), model, train, fit);
    } catch (const strategies::CheckpointError& error) {
      const std::string before =
          all.size() < 2 ? "" : "; remove it to go on from " + all[all.size() - 2].string() + " instead";
      throw std::runtime_error(error.what() + before);
    }
    std::printf("resume:    %s, %lld steps done, epoch %d, batch %lld\n", all.back().string().c_str(),
                static_cast<long long>(model.steps()), fit.resume->position.epoch + 1,
                static_cast<long long>(fit.resume->position.batch + 1));
  }
  std::fflush(stdout);
}

void export_weights(const TrainingFiles& files, const strategies::Model& model) {
  if (files.exported_weights.empty()) return;
  strategies::write_weights(files.exported_weights, model.weights());
  std::printf("weights: %s\n", files.exported_weights.c_str());
}

}  // namespace mirrorscale::scenarios

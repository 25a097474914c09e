#pragma once
#include "scenarios/commands/stop_on_signal.h"
#include "strategies/model.h"

#include <cstdint>
#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace mirrorscale::scenarios {

/// What a training reads beside its data, and leaves behind. Empty: not asked for.
struct TrainingFiles {
  std::string checkpoints, initial_weights, exported_weights, keep_best;
  std::int64_t save_every = 0;  // steps; 0: each epoch
  int keep_last = 3;
  bool resume = false;
};

void add_file_options(CLI::App& command, TrainingFiles& files);
/// Throws std::invalid_argument for options that don't go together, names that can't be, and a folder of
/// checkpoints that wasn't asked to be gone on from; std::runtime_error for what can't be written.
void check(const TrainingFiles& files);
/// Says what it does in a line.
void load_initial_weights(const TrainingFiles& files, strategies::Model& model);
/// Adds the callbacks that save, also when a signal comes; null where there is nothing to save to.
std::shared_ptr<StopOnSignal> add_checkpoints(const TrainingFiles& files, strategies::FitOptions& fit);
/// Goes on from the newest checkpoint where asked to, and says from which; `fit` with all its callbacks.
void resume(const TrainingFiles& files, strategies::Model& model, const strategies::Dataset& train,
            strategies::FitOptions& fit);
void export_weights(const TrainingFiles& files, const strategies::Model& model);

}  // namespace mirrorscale::scenarios

#pragma once
#include "strategies/callbacks.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace mirrorscale::strategies {

struct SaveOptions {
  std::filesystem::path folder;
  std::int64_t every_steps = 0;  // optimizer steps; 0: at the end of each epoch
  int keep_last = 3;
  /// A name in an epoch's logs ("val_loss"): the checkpoint of the best epoch is kept as best.ckpt. Empty:
  /// none.
  std::string best = {};
  bool larger_is_better = false;
};

/// Saves the training: every so many steps (exactly those, whatever steps_per_execution), when it is stopped
/// between steps, and at its end. Give it to fit after callbacks that stop the training or change the model,
/// so that what they do is saved.
CallbackPtr save_checkpoints(const SaveOptions& options);

}  // namespace mirrorscale::strategies

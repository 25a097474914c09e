#pragma once
#include "strategies/checkpoint/part_file.h"
#include "strategies/model.h"

#include <filesystem>
#include <map>
#include <string>

namespace mirrorscale::strategies {

/// What makes a training the same training, whatever the devices: parameters, optimizer, loss, metrics, data,
/// global batch, seed, numerics. By name, in words.
std::map<std::string, std::string> describe_run(const Model& model, const Dataset& train,
                                                const FitOptions& options);

/// All that a training needs to go on from where `control` stands: weights, slots, optimizer steps, position,
/// state of the callbacks. Nothing in it depends on the number of replicas. Between steps. Throws
/// std::invalid_argument for model averaging, whose replicas differ within an epoch.
PartFile capture(const LoopControl& control);

/// Puts the model back and sets `options.resume`: the fit(train, options) that follows has the bits of the
/// training that was never interrupted. `options` with all callbacks in place. Throws CheckpointError when
/// the checkpoint is of another training, naming the part and quoting both sides; nothing is changed then.
void restore(const PartFile& checkpoint, const std::string& source, Model& model, const Dataset& train,
             FitOptions& options);

}  // namespace mirrorscale::strategies

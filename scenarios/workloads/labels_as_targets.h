#pragma once
#include "strategies/input/dataset.h"

namespace mirrorscale::scenarios {

/// A data set with two classes, its labels handed out as one target column of 0 and 1: what a sigmoid learns.
/// Throws std::invalid_argument for any other number of classes.
strategies::DatasetPtr labels_as_targets(strategies::DatasetPtr base, const std::string& name);

}  // namespace mirrorscale::scenarios

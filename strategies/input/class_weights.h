#pragma once
#include "strategies/input/dataset.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

/// Sample weights by class, as Keras' `class_weight`: a class that isn't named has 1.
using ClassWeights = std::map<int, float>;

/// "0=1", "3=2.5" ... Throws std::invalid_argument for what is no class = weight, or a class twice.
ClassWeights parse_class_weights(std::span<const std::string> texts);

/// `base` with each row's sample weight (1 where it has none) times that of its class: its label; or where it
/// has targets the number in the one column, or the column of the largest of several (one-hot). Throws
/// std::invalid_argument for a weight that is negative or not finite, a class that the data can't have, rows
/// of several labels, and targets that are no classes.
DatasetPtr with_class_weights(DatasetPtr base, const ClassWeights& weights);

}  // namespace mirrorscale::strategies

#pragma once
#include "scenarios/oracle/sequence.h"
#include "strategies/engine/chain.h"

#include <vector>

namespace mirrorscale::scenarios {

/// The oracle's layers for the engine's, read off its settings: they share no code. Throws
/// std::invalid_argument where the oracle has no such layer.
std::vector<oracle::LayerPtr> oracle_layers(const strategies::Chain& chain,
                                            const strategies::ParameterLayout& parameters);

}  // namespace mirrorscale::scenarios

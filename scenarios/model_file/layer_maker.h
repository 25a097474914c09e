#pragma once
#include "scenarios/model_file/model_table.h"
#include "strategies/engine/layer.h"

namespace mirrorscale::scenarios {

/// The layer that a table [[layers]] of a model file describes (docs/model_file.md). `outputs`: what the data
/// have to predict for a row. Throws std::invalid_argument with file and line for a kind or key that is not
/// known, and what the layer itself refuses.
strategies::LayerPtr make_layer(ModelTable table, int outputs);

}  // namespace mirrorscale::scenarios

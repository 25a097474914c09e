#pragma once

#include "emulated_cuda/system.h"

namespace mirrorscale::emulated_cuda {

/// Sets counts, limits, seed and faults as the environment says; a value that cannot be read ends the
/// program.
void apply_environment(System& system);

}  // namespace mirrorscale::emulated_cuda

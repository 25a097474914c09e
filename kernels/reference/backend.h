#pragma once
#include "kernels/backend.h"

#include <memory>

namespace mirrorscale::kernels::reference {

/// Plain loops in float: slow, and the definition of every op's bits.
std::unique_ptr<Backend> make_backend();

}  // namespace mirrorscale::kernels::reference

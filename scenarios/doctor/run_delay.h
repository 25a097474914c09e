#pragma once
#include <optional>

namespace mirrorscale::scenarios {

/// Seconds that the calling thread was ready to run and had no core, since it began: what other programs cost
/// it. Empty where the system doesn't count them.
std::optional<double> waited_for_core_s();

}  // namespace mirrorscale::scenarios

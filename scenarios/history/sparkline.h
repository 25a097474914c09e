#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace mirrorscale::scenarios {

/// A character a value, from its smallest (▁) to its largest (█); of more than `most` values, the last. All
/// in the middle where they are equal.
std::string sparkline(std::span<const double> values, std::size_t most = 40);

}  // namespace mirrorscale::scenarios

#pragma once
#include <span>
#include <vector>

namespace mirrorscale::harness {

/// Holm's step-down correction: adjusted p-values, in the order given. To call true those whose adjusted
/// value is at most `alpha` is wrong about any of them with probability at most `alpha`, whatever the
/// dependence between the tests (cells of one machine are never independent). Hand in all tests of one
/// decision, also those that look harmless: their number is the price. Throws std::invalid_argument for a
/// value outside 0 .. 1 (NaN too).
std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace mirrorscale::harness

#pragma once
#include "harness/check/verdict.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mirrorscale::harness {

/// REF: |actual - expected| <= bound, element by element. `expected` comes from an oracle in double, `bound`
/// from error analysis. The evidence gives the largest |difference| / bound, where it is, and the bound
/// there; a failure also names the first element that breaks its bound and how many do. NaN and infinity in
/// `actual` fail. Throws std::invalid_argument when sizes of `expected` and `bound` differ, or when either
/// holds NaN or infinity or a bound is negative: such a bound could not fail. Empty spans are skipped; a
/// wrong size of `actual` fails.
Verdict check_bound(std::string_view invariant, const std::string& what, std::span<const double> expected,
                    std::span<const double> bound, std::span<const float> actual, std::size_t columns = 0);
Verdict check_bound(std::string_view invariant, const std::string& what, std::span<const double> expected,
                    std::span<const double> bound, std::span<const double> actual, std::size_t columns = 0);

}  // namespace mirrorscale::harness

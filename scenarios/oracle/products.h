#pragma once
#include "scenarios/oracle/settings.h"
#include "scenarios/oracle/tracked.h"

#include <cstddef>

/// The three products of a dense layer, each with its running error (docs/error_bound.md, 3). Columns of the
/// result are shared by `threads` threads; the result doesn't depend on their number. `rounding`: of the
/// factors, before they are multiplied.
namespace mirrorscale::scenarios::oracle {

/// z = x · w, one chain over k: roundings of the partial sums and the errors of x count as independent, those
/// of the weights may agree.
void multiply(const Tracked& x, const Tracked& w, const FactorRounding& rounding, int threads, Tracked& z);

/// dx = dz · wᵀ, as multiply.
void multiply_transposed(const Tracked& dz, const Tracked& w, const FactorRounding& rounding, int threads,
                         Tracked& dx);

/// sums = xᵀ · dz, a sum over rows: chains of `row_chain` rows, then a binary tree. Roundings of the sum
/// count as independent; the factors' errors add up, because rows share the errors of the weights.
void multiply_rows(const Tracked& x, const Tracked& dz, std::size_t row_chain, const FactorRounding& rounding,
                   int threads, Tracked& sums);

}  // namespace mirrorscale::scenarios::oracle

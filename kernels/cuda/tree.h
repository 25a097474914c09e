#pragma once
#include "kernels/cuda/gpu.h"

/// The binary tree over micro-shards (docs/exact.md, section 2), added up while the leaves come.
namespace mirrorscale::kernels::cuda {

/// Digits of a binary number that are set from the lowest on, and that are zero from the lowest on.
__device__ inline int trailing_ones(unsigned number) {
  int count = 0;
  for (; (number & 1U) != 0; number >>= 1) ++count;
  return count;
}
__device__ inline int trailing_zeros(unsigned number) {
  return trailing_ones((number & (0U - number)) - 1U);
}

/// Sums under way wait on a stack for their right siblings, as the digits of a binary counter do. Sum has
/// add_to(left): left + this. Room for less than 2^kLevels leaves.
template <class Sum, int kLevels>
class TreeStack {
 public:
  /// `sum` is the whole sum of leaf `number`, or of a complete subtree whose last leaf that is and whose
  /// lower digits it has `joined` already. With `last` it becomes the sum of all leaves.
  __device__ __forceinline__ void push(Sum& sum, int number, unsigned joined, bool last) {
    const auto n = static_cast<unsigned>(number);
    for (unsigned digits = (last ? n : n & ~(n + 1U)) & ~joined; digits != 0; digits &= digits - 1U) {
      sum.add_to(waiting_[trailing_zeros(digits)]);
    }
    if (!last) waiting_[trailing_ones(n)] = sum;
  }

 private:
  Sum waiting_[kLevels];  // in local memory: touched once a leaf
};

}  // namespace mirrorscale::kernels::cuda

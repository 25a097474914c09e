#pragma once
#include "kernels/matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

/// The two orders in which the `exact` contract adds.
namespace mirrorscale::kernels::reference {

/// Sum over rows: leaf(first, count) gives the chain over the rows of one micro-shard; a binary tree over the
/// micro-shards adds them. A left subtree always has a power of two of leaves.
template <class T, class Leaf>
T tree_sum(int rows, int shard_rows, const Leaf& leaf, int first = 0) {
  const int shards = (rows + shard_rows - 1) / shard_rows;
  if (shards <= 1) return leaf(first, rows);
  const int left = static_cast<int>(std::bit_ceil(static_cast<unsigned>(shards)) / 2) * shard_rows;
  const T a = tree_sum<T>(left, shard_rows, leaf, first);
  return a + tree_sum<T>(rows - left, shard_rows, leaf, first + left);
}

/// 16 values to one: j takes j + 8, then j + 4, j + 2, j + 1, joined by combine(a, b).
template <class T, class Combine>
T join(std::array<T, kPanel> chains, const Combine& combine) {
  for (std::size_t half = kPanel / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) chains[j] = combine(chains[j], chains[j + half]);
  }
  return chains[0];
}

/// Sum along a row: 16 interleaved chains from +0, chain c % 16 takes step(sum so far, c).
template <class T, class Step>
T chain_sum(std::size_t columns, const Step& step) {
  std::array<T, kPanel> chains{};
  for (std::size_t c = 0; c < columns; ++c) chains[c % kPanel] = step(chains[c % kPanel], c);
  return join(chains, [](T a, T b) { return a + b; });
}

}  // namespace mirrorscale::kernels::reference

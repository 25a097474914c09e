#pragma once
#include "kernels/matrix.h"

#include <cmath>
#include <cstddef>

namespace mirrorscale::kernels {

/// Scaled dot-product attention of several heads over the positions of each sample. The columns of its input
/// [samples * positions, 3 * columns] are queries, keys, values, each of all heads one after the other.
struct Attention {
  int positions = 1;  // of a sample
  int heads = 1;
  bool causal = false;  // a position sees itself and those before it

  /// Columns of a head's queries, where the output has so many.
  constexpr int head_size(int columns) const { return columns / heads; }
  /// What scores are multiplied by.
  static float scale(int head_size) {
    return static_cast<float>(1 / std::sqrt(static_cast<double>(head_size)));
  }
  /// Positions are masked in blocks: with `causal`, the sums of position t run over positions below end(t),
  /// and those past t count as zeros.
  static constexpr int kBlock = 32;
  constexpr int end(int t) const {
    const int block_end = t / kBlock * kBlock + kBlock;
    return causal && block_end < positions ? block_end : positions;
  }
  /// The first position whose sums position u takes part in.
  constexpr int begin(int u) const { return causal ? u / kBlock * kBlock : 0; }
};

/// Floats of the scratch of attention and attention_backward for `rows` rows of `columns` columns: of one
/// head's matrices, and the numbers of each row and head.
constexpr std::size_t attention_scratch(const Attention& a, int rows, int columns) {
  const int positions = padded(a.positions), head = a.head_size(columns);
  return 6 * activation_size(positions, head) + 2 * weight_size(head, positions) +
         weight_size(Attention::kBlock, head) + 2 * activation_size(positions, Attention::kBlock) +
         activation_size(Attention::kBlock, positions) + activation_size(rows, a.heads);
}

}  // namespace mirrorscale::kernels

// Embeddings of tokens and positions, and the sums of their gradients.
#include "kernels/cpu/parts.h"

#include <bit>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/embedding.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/row_loops-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace {

/// The rows in which each id occurs, in order: those of id v are rows[begin[v]] .. rows[begin[v + 1] - 1].
struct Occurrences {
  int *rows, *begin;
};

/// In `scratch` (a counting sort).
Occurrences occurrences_of(ConstMatrix ids, int table_rows, float* scratch) {
  const int count = ids.rows * ids.columns;
  const Occurrences found{reinterpret_cast<int*>(scratch), reinterpret_cast<int*>(scratch) + padded(count)};
  const auto id = [&](int r) { return static_cast<int>(ids.at(r / ids.columns, r % ids.columns)); };
  for (int v = 0; v <= table_rows; ++v) found.begin[v] = 0;
  for (int r = 0; r < count; ++r) ++found.begin[id(r)];
  for (int v = 1; v <= table_rows; ++v) found.begin[v] += found.begin[v - 1];  // now the ends
  for (int r = count; r-- > 0;) found.rows[--found.begin[id(r)]] = r;
  return found;
}

/// One panel of a sum over the micro-shards of samples of which only some have a row: an absent leaf is +0,
/// and s + +0 is s, since no chain from +0 is ever -0. Subtrees wait until their right sibling comes or is
/// passed.
class SparseTree {
 public:
  HWY_INLINE void add(int leaf, const float* row) {
    if (leaf != leaf_ && depth_ > 0) {
      const int level = std::bit_width(static_cast<unsigned>(leaf ^ leaf_));  // where the two meet
      join_below(level);
      levels_[depth_ - 1] = level;
      start(leaf);
    } else if (depth_ == 0) {
      start(leaf);
    }
    for (int v = 0; v < kVectors; ++v) {
      float* at = sums_[depth_ - 1] + v * kLanes;
      store(load(at) + load(row + v * kLanes), at);
    }
  }
  HWY_INLINE void finish(float* out) {
    if (depth_ == 0) start(0);
    join_below(kMost);
    for (int v = 0; v < kVectors; ++v) store(load(sums_[0] + v * kLanes), out + v * kLanes);
  }

 private:
  static constexpr int kMost = 33;  // more than a pair of leaves can have

  HWY_INLINE void start(int leaf) {
    leaf_ = leaf;
    for (int v = 0; v < kVectors; ++v) store(zero(), sums_[depth_] + v * kLanes);
    ++depth_;
  }
  /// Adds what meets below `level` to its left sibling.
  HWY_INLINE void join_below(int level) {
    for (; depth_ > 1 && levels_[depth_ - 2] < level; --depth_) {
      for (int v = 0; v < kVectors; ++v) {
        float* left = sums_[depth_ - 2] + v * kLanes;
        store(load(left) + load(sums_[depth_ - 1] + v * kLanes), left);
      }
    }
  }

  alignas(64) float sums_[kMost][kPanel];
  int levels_[kMost];  // where entry i meets entry i + 1
  int depth_ = 0, leaf_ = 0;
};

void embed(ConstMatrix ids, ConstMatrix table, Matrix y) {
  for (int p = 0; p < panels(y.columns); ++p) {
    const float* from = table.data + static_cast<std::size_t>(p) * table.panel_stride;
    float* to = y.data + static_cast<std::size_t>(p) * y.panel_stride;
    for (int s = 0, row = 0; s < ids.rows; ++s) {
      for (int t = 0; t < ids.columns; ++t, ++row) {
        const float* in = from + static_cast<int>(ids.at(s, t)) * kPanel;
        for (int v = 0; v < kPanel; v += kLanes) store(load(in + v), to + row * kPanel + v);
      }
    }
  }
}

void embed_backward(ConstMatrix ids, ConstMatrix dy, int shard_samples, Matrix dtable, float* scratch) {
  const Occurrences found = occurrences_of(ids, dtable.rows, scratch);
  const int shard_rows = shard_samples * ids.columns;
  for (int p = 0; p < panels(dtable.columns); ++p) {
    const float* from = dy.data + static_cast<std::size_t>(p) * dy.panel_stride;
    float* to = dtable.data + static_cast<std::size_t>(p) * dtable.panel_stride;
    const int real = dtable.columns - p * kPanel;
    for (int v = 0; v < padded(dtable.rows); ++v) {
      SparseTree sum;
      for (int i = v < dtable.rows ? found.begin[v] : 0; v < dtable.rows && i < found.begin[v + 1]; ++i) {
        sum.add(found.rows[i] / shard_rows, from + found.rows[i] * kPanel);
      }
      sum.finish(to + v * kPanel);
      for (int c = real; c < kPanel; ++c) to[v * kPanel + c] = 0;
    }
  }
}

void add_positions(ConstMatrix x, ConstMatrix table, Matrix y) {
  for (int p = 0; p < panels(y.columns); ++p) {
    const float* in = x.data + static_cast<std::size_t>(p) * x.panel_stride;
    const float* from = table.data + static_cast<std::size_t>(p) * table.panel_stride;
    float* to = y.data + static_cast<std::size_t>(p) * y.panel_stride;
    for (int first = 0; first < y.rows; first += table.rows) {
      for (int i = 0; i < table.rows * kPanel; i += kLanes) {
        store(load(in + first * kPanel + i) + load(from + i), to + first * kPanel + i);
      }
    }
  }
}

void sum_positions(ConstMatrix dy, int shard_samples, Matrix dtable) {
  const int positions = dtable.rows, samples = dy.rows / positions;
  for (int p = 0; p < panels(dtable.columns); ++p) {
    const float* from = dy.data + static_cast<std::size_t>(p) * dy.panel_stride;
    float* to = dtable.data + static_cast<std::size_t>(p) * dtable.panel_stride;
    const int real = dtable.columns - p * kPanel;
    for (int t = 0; t < padded(positions); ++t) {
      SparseTree sum;
      for (int s = 0; t < positions && s < samples; ++s) {
        sum.add(s / shard_samples, from + (s * positions + t) * kPanel);
      }
      sum.finish(to + t * kPanel);
      for (int c = real; c < kPanel; ++c) to[t * kPanel + c] = 0;
    }
  }
}

const EmbeddingTable kTable = {&embed, &embed_backward, &add_positions, &sum_positions};

}  // namespace

const EmbeddingTable* embedding_table() {
  return &kTable;
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mirrorscale::kernels::cpu {
HWY_EXPORT(embedding_table);
const EmbeddingTable* chosen_embedding_table() {
  return HWY_DYNAMIC_DISPATCH(embedding_table)();
}
}  // namespace mirrorscale::kernels::cpu
#endif

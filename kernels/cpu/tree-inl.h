// The binary tree over micro-shards, for one register tile. Included once a target.
#if defined(MIRRORSCALE_TREE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MIRRORSCALE_TREE_INL_H
#undef MIRRORSCALE_TREE_INL_H
#else
#define MIRRORSCALE_TREE_INL_H
#endif

#include "kernels/cpu/tile-inl.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {

/// Rows cut into micro-shards (leaves).
struct Leaves {
  int rows = 0, shard_rows = 1;
  int count = 1;  // of leaves; one of no rows where there are no rows
};
HWY_INLINE Leaves leaves_of(int rows, int shard_rows) {
  return {rows, shard_rows, std::max(1, (rows + shard_rows - 1) / shard_rows)};
}

/// The sums that a tile has under way: they wait on a stack for their right siblings, as the digits of a
/// binary counter do, so that the tree is added up in registers and L1.
template <int kR, int kP>
class TreeSum {
 public:
  /// Continues with leaves first .. last - 1, at least one. True when the last of all is among them: then `c`
  /// is the whole sum. a(r, row) lies at a[row * 16 + r * kRowStep], b in panels b_stride apart. kShard:
  /// shard_rows if known, else 0.
  template <int kShard, int kRowStep, int kDepthStep>
  HWY_INLINE bool run(const Leaves& leaves, int first, int last, const float* a, const float* b,
                      std::size_t b_stride, Tile<kR, kP>& c) {
    // Short leaves: subtrees of 4 or 8 of them without a branch, or the bookkeeping costs as much as the
    // sums.
    constexpr int kWhole = kShard == 4 ? 3 : kShard == 8 || kShard == 16 ? 2 : 0, kStep = 1 << kWhole;
    const int shard_rows = kShard > 0 ? kShard : leaves.shard_rows;
    for (int s = first;;) {
      const int from = s * shard_rows;
      const float *a_leaf = a + from * kDepthStep, *b_leaf = b + from * kPanel;
      unsigned joined = 0;  // digits that the subtree at s has added already
      if (kShard > 0 && s % kStep == 0 && s + kStep <= last && (s + kStep) * kShard <= leaves.rows) {
        whole<kWhole, kShard, kRowStep, kDepthStep>(a_leaf, b_leaf, b_stride, c);
        s += kStep;
        joined = kStep - 1;
      } else {
        clear<kR, kP>(c);
        accumulate<kR, kP, kRowStep, kDepthStep, 0>(std::min(shard_rows, leaves.rows - from), a_leaf, b_leaf,
                                                    b_stride, c);
        ++s;
      }
      const auto number = static_cast<unsigned>(s - 1);
      const bool all = s == leaves.count;  // then every digit is still to be added
      for (unsigned digits = (all ? number : number & ~(number + 1)) & ~joined; digits != 0;
           digits &= digits - 1) {
        add(waiting_ + std::countr_zero(digits) * kFloats, c);
      }
      if (all) return true;
      wait(c, waiting_ + std::countr_one(number) * kFloats);
      if (s == last) return false;
    }
  }

 private:
  static constexpr int kCount = kP * kVectors, kFloats = kR * kP * kPanel, kLevels = 31;

  /// The sum of 2^kLevel whole leaves.
  template <int kLevel, int kShard, int kRowStep, int kDepthStep>
  HWY_INLINE void whole(const float* a, const float* b, std::size_t b_stride, Tile<kR, kP>& c) {
    if constexpr (kLevel == 0) {
      clear<kR, kP>(c);
      accumulate<kR, kP, kRowStep, kDepthStep, 0>(kShard, a, b, b_stride, c);
    } else {
      constexpr int kHalf = kShard << (kLevel - 1);
      whole<kLevel - 1, kShard, kRowStep, kDepthStep>(a, b, b_stride, c);
      wait(c, waiting_ + (kLevel - 1) * kFloats);
      std::atomic_signal_fence(
          std::memory_order_seq_cst);  // or the compiler keeps a second copy of what waits
      whole<kLevel - 1, kShard, kRowStep, kDepthStep>(a + kHalf * kDepthStep, b + kHalf * kPanel, b_stride,
                                                      c);
      add(waiting_ + (kLevel - 1) * kFloats, c);
    }
  }
  static HWY_INLINE void add(const float* left, Tile<kR, kP>& c) {
    MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
      MIRRORSCALE_UNROLL for (int v = 0; v < kCount; ++v) {
        c[r][v] = load(left + (r * kCount + v) * kLanes) + c[r][v];
      }
    }
  }
  static HWY_INLINE void wait(const Tile<kR, kP>& c, float* top) {
    MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
      MIRRORSCALE_UNROLL for (int v = 0; v < kCount; ++v) store(c[r][v], top + (r * kCount + v) * kLanes);
    }
  }

  alignas(64) float waiting_[kLevels * kFloats];
};

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

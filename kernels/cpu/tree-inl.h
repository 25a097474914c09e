// The binary tree over micro-shards, for one register tile. Included once a target.
#if defined(MIRRORSCALE_TREE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MIRRORSCALE_TREE_INL_H
#undef MIRRORSCALE_TREE_INL_H
#else
#define MIRRORSCALE_TREE_INL_H
#endif

#include "kernels/cpu/tile-inl.h"

#include <algorithm>
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
    const int shard_rows = kShard > 0 ? kShard : leaves.shard_rows;
    int s = first;
    do {
      const int from = s * shard_rows;
      clear<kR, kP>(c);
      if (kShard > 0 && from + kShard <= leaves.rows) {
        accumulate<kR, kP, kRowStep, kDepthStep, 0>(kShard, a + from * kDepthStep, b + from * kPanel,
                                                    b_stride, c);
      } else {
        accumulate<kR, kP, kRowStep, kDepthStep, 0>(std::min(shard_rows, leaves.rows - from),
                                                    a + from * kDepthStep, b + from * kPanel, b_stride, c);
      }
      const auto number = static_cast<unsigned>(s);
      const bool all = s + 1 == leaves.count;  // then every digit is still to be added
      for (unsigned digits = all ? number : number & ~(number + 1); digits != 0; digits &= digits - 1) {
        const float* left = waiting_ + std::countr_zero(digits) * kFloats;
        MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
          MIRRORSCALE_UNROLL for (int v = 0; v < kCount; ++v) {
            c[r][v] = load(left + (r * kCount + v) * kLanes) + c[r][v];
          }
        }
      }
      if (all) return true;
      float* top = waiting_ + std::countr_one(number) * kFloats;
      MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
        MIRRORSCALE_UNROLL for (int v = 0; v < kCount; ++v) store(c[r][v], top + (r * kCount + v) * kLanes);
      }
    } while (++s < last);
    return false;
  }

 private:
  static constexpr int kCount = kP * kVectors, kFloats = kR * kP * kPanel, kLevels = 31;
  alignas(64) float waiting_[kLevels * kFloats];
};

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

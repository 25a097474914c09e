#include "tests/kernels/support.h"

namespace mirrorscale::kernels::testing {
namespace {

constexpr int kShards[] = {1, 4, 8, 16, 32};

class RowSumsPaper : public BackendTest {};

TEST_P(RowSumsPaper, WeightGradientOfTwoRows) {
  auto x = activations(2, 2).set({{1, 2}, {3, 4}}), dy = activations(2, 3).set({{1, 0, -1}, {2, 1, 0.5F}});
  auto dw = weights(2, 3);
  backend_->linear_backward_weights(x.read(), dy.read(), 1, dw.view());
  EXPECT_TRUE(same_bits(dw.read(), weights(2, 3).set({{7, 3, 0.5F}, {10, 4, 0}}).read()));
}

TEST_P(RowSumsPaper, AChainInsideAMicroShardAndATreeOverThem) {
  // 2^24, 1, 1, 1: one chain loses every 1; two leaves of two give 2^24 + 2; leaves of one (2^24 + 1) + 2.
  auto x = activations(4, 1).set({{0x1p24F}, {1}, {1}, {1}}),
       one = activations(4, 1).set({{1}, {1}, {1}, {1}});
  const std::pair<int, float> expected[] = {{4, 0x1p24F}, {2, 0x1p24F + 2}, {1, 0x1p24F + 2}, {3, 0x1p24F}};
  for (const auto& [shard, sum] : expected) {
    auto dw = weights(1, 1);
    Line sums(1);
    backend_->linear_backward_weights(x.read(), one.read(), shard, dw.view());
    backend_->sum_rows(x.read(), shard, sums.data());
    EXPECT_EQ(dw.at(0, 0), sum) << shard;
    EXPECT_EQ(sums[0], sum) << shard;
  }
}

TEST_P(RowSumsPaper, ANodeWithoutRightChildIsItsLeftChild) {
  // Leaves a, b, c of one row: (a + b) + c. With a = -2^24 and b = 2^24, c = 1 survives; a + (b + c) loses
  // it.
  auto x = activations(3, 1).set({{-0x1p24F}, {0x1p24F}, {1}});
  Line sums(1);
  backend_->sum_rows(x.read(), 1, sums.data());
  EXPECT_EQ(sums[0], 1.0F);
  // Five leaves: ((a + b) + (c + d)) + e.
  auto y = activations(5, 1).set({{0x1p24F}, {1}, {1}, {-0x1p24F}, {3}});
  backend_->sum_rows(y.read(), 1, sums.data());
  EXPECT_EQ(sums[0], 4.0F);  // (2^24 + (1 - 2^24)) + 3
}

TEST_P(RowSumsPaper, PaddingOfWeightGradientsAndSumsIsZero) {
  for (const int out : {3, 10, 17, 30}) {
    auto x = activations(9, 18).fill(1), dy = activations(9, out).fill(2);
    auto dw = weights(18, out);
    auto sums = Line(static_cast<std::size_t>(panels(out)) * kPanel).fill(3);
    backend_->linear_backward_weights(x.read(), dy.read(), 4, dw.view());
    backend_->sum_rows(dy.read(), 4, sums.data());
    for (int c = 0; c < panels(out) * kPanel; ++c) {
      for (int r = 0; r < 32; ++r) {
        if (r < 18 && c < out) continue;
        EXPECT_TRUE(same_bits(dw.at(r, c), 0.0F)) << r << ", " << c;
      }
      if (c >= out) {
        EXPECT_TRUE(same_bits(sums[static_cast<std::size_t>(c)], 0.0F)) << c;
      }
    }
  }
}

MIRRORSCALE_EVERY_BACKEND(RowSumsPaper);

class RowSumsBits : public TargetTest {
 protected:
  void expect_same(int rows, int in, int out, int shard) {
    auto x = activations(rows, in).fill(1), dy = activations(rows, out).fill(2);
    auto got = weights(in, out), want = weights(in, out);
    cpu_->linear_backward_weights(x.read(), dy.read(), shard, got.view());
    reference_->linear_backward_weights(x.read(), dy.read(), shard, want.view());
    ASSERT_TRUE(same_bits(got.read(), want.read()))
        << rows << " rows, " << in << " x " << out << ", S = " << shard;
  }
};

TEST_P(RowSumsBits, WeightGradientEqualsTheReference) {
  int turn = 0;
  for (const int rows : kSizes) {
    for (const int in : kSizes) {
      for (const int out : kSizes) expect_same(rows, in, out, kShards[turn++ % 5]);
    }
  }
}

TEST_P(RowSumsBits, EveryShardSizeAtOddRowCounts) {
  for (const int rows : {1, 3, 31, 33, 63, 65, 127, 255, 257, 300, 511, 513, 1000, 1025}) {
    for (const int shard : kShards) {
      expect_same(rows, 17, 19, shard);
      expect_same(rows, 33, 10, shard);
      expect_same(rows, 5, 40, shard);
    }
  }
}

TEST_P(RowSumsBits, SumOfRowsEqualsTheReference) {
  for (const int rows : {0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 100, 257, 1000}) {
    for (const int columns : kSizes) {
      for (const int shard : kShards) {
        auto x = activations(rows, columns).fill(4);
        Line got(static_cast<std::size_t>(columns)), want(static_cast<std::size_t>(columns));
        cpu_->sum_rows(x.read(), shard, got.data());
        reference_->sum_rows(x.read(), shard, want.data());
        ASSERT_TRUE(same_bits(got, want)) << rows << " x " << columns << ", S = " << shard;
      }
    }
  }
}

TEST_P(RowSumsBits, SubtreesOfSlicesJoinToTheWhole) {
  // 100 rows, S = 4: 25 leaves. Rows 0 .. 63 and 64 .. 99 are the two subtrees under the root.
  auto x = activations(100, 20).fill(1), dy = activations(100, 30).fill(2);
  auto whole = weights(20, 30), left = weights(20, 30), right = weights(20, 30);
  cpu_->linear_backward_weights(x.read(), dy.read(), 4, whole.view());
  cpu_->linear_backward_weights(x.read().slice_rows(0, 64), dy.read().slice_rows(0, 64), 4, left.view());
  cpu_->linear_backward_weights(x.read().slice_rows(64, 36), dy.read().slice_rows(64, 36), 4, right.view());
  cpu_->add(weight_size(20, 30), left.view().data, right.view().data, left.view().data);
  EXPECT_TRUE(same_bits(left.read(), whole.read()));
}

MIRRORSCALE_EVERY_TARGET(RowSumsBits);

}  // namespace
}  // namespace mirrorscale::kernels::testing

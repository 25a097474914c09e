#include "tests/kernels/cuda/support.h"

namespace mirrorscale::kernels::testing {
namespace {

constexpr int kOddSizes[] = {1, 15, 16, 17, 33, 70};
constexpr int kShards[] = {1, 4, 8, 16, 32};

class CudaProduct : public CudaTest {
 protected:
  void forward(int rows, int in, int out, Activation f, bool with_bias) {
    const auto x = RowGrid(rows, in).fill(1), w = RowGrid(in, out).fill(2);
    RowGrid want(rows, out);
    std::vector<float> bias(static_cast<std::size_t>(out));
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(random_value(3, i, -1, 1));
    const auto device_bias = on_device(bias);
    const auto dx = on_device(x), dw = on_device(w), dy = on_device(want);
    exact_->linear(dx.read(), dw.read(), with_bias ? device_bias.get() : nullptr, f, dy.view());
    reference_->linear(x.read(), w.read(), with_bias ? bias.data() : nullptr, f, want.view());
    const RowGrid got = dy.fetched();
    ASSERT_TRUE(same_bits(got.read(), want.read()))
        << rows << " x " << in << " x " << out << " " << to_string(f) << (with_bias ? " with bias" : "");
    ASSERT_TRUE(finite_padding(got));
  }
  void backward(int rows, int in, int out, Activation f) {
    const auto dy = RowGrid(rows, out).fill(1), wt = RowGrid(out, in).fill(2),
               saved = RowGrid(rows, in).fill(3, -0.9, 0.9);
    RowGrid want(rows, in);
    const auto device_dy = on_device(dy), device_wt = on_device(wt), device_saved = on_device(saved),
               device_dx = on_device(want);
    exact_->linear_backward_input(device_dy.read(), device_wt.read(), f,
                                  f == Activation::kLinear ? ConstMatrix{} : device_saved.read(),
                                  device_dx.view());
    reference_->linear_backward_input(dy.read(), wt.read(), f, saved.read(), want.view());
    ASSERT_TRUE(same_bits(device_dx.fetched().read(), want.read()))
        << rows << " x " << out << " x " << in << " " << to_string(f);
  }
  void weights(int rows, int in, int out, int shard) {
    const auto x = RowGrid(rows, in).fill(1), dy = RowGrid(rows, out).fill(2);
    auto want = RowGrid(in, out).fill(9);
    const auto device_x = on_device(x), device_dy = on_device(dy), device_dw = on_device(want);
    exact_->linear_backward_weights(device_x.read(), device_dy.read(), shard, device_dw.view());
    reference_->linear_backward_weights(x.read(), dy.read(), shard, want.view());
    ASSERT_TRUE(same_bits(device_dw.fetched().floats(), want.floats()))  // padding too: it is +0
        << rows << " rows, " << in << " x " << out << ", S = " << shard;
  }
};

TEST_F(CudaProduct, ForwardHasTheExactBits) {
  int turn = 0;
  for (const int rows : kOddSizes) {
    for (const int in : kOddSizes) {
      for (const int out : kOddSizes) {
        forward(rows, in, out, kActivations[turn % 5], turn % 3 != 0);
        ++turn;
      }
    }
  }
}

TEST_F(CudaProduct, EveryActivationInEverySizeOfTile) {
  // Small, medium and large tiles by the number of outputs, partly filled ones at the edges.
  for (const Activation f : kActivations) {
    for (const bool bias : {false, true}) {
      forward(20, 37, 40, f, bias);
      forward(133, 33, 150, f, bias);
      forward(260, 18, 330, f, bias);
    }
    backward(20, 40, 37, f);
    backward(133, 150, 33, f);
    backward(260, 330, 18, f);
  }
}

TEST_F(CudaProduct, InputGradientHasTheExactBits) {
  int turn = 0;
  for (const int rows : kOddSizes) {
    for (const int in : kOddSizes) {
      for (const int out : kOddSizes) backward(rows, in, out, kActivations[turn++ % 5]);
    }
  }
}

TEST_F(CudaProduct, WeightGradientHasTheExactBits) {
  int turn = 0;
  for (const int rows : kOddSizes) {
    for (const int in : kOddSizes) {
      for (const int out : kOddSizes) weights(rows, in, out, kShards[turn++ % 5]);
    }
  }
}

TEST_F(CudaProduct, WeightGradientOfEveryShardSizeAtOddRowCounts) {
  for (const int rows : {0, 1, 3, 31, 32, 33, 63, 65, 127, 160, 255, 257, 511, 513, 1025}) {
    for (const int shard : kShards) {
      weights(rows, 17, 19, shard);
      weights(rows, 5, 40, shard);
    }
    weights(rows, 18, 20, 3);  // whatever the size of a micro-shard
    weights(rows, 18, 20, 64);
  }
  weights(70, 150, 140, 8);  // larger tiles
  weights(300, 150, 140, 16);
  weights(1100, 3, 4, 1);  // more leaves than the short stack holds
}

TEST_F(CudaProduct, SignsOfZeroSurviveWithoutABias) {
  // fma(-tiny, tiny, +0) underflows to -0: neither padding of k nor an absent bias may turn it into +0.
  auto x = RowGrid(1, 1).fill_with([](int, int) { return -1e-30F; });
  auto w = RowGrid(1, 1).fill_with([](int, int) { return 1e-30F; });
  const auto dx = on_device(x), dw = on_device(w), dy = on_device(RowGrid(1, 1));
  exact_->linear(dx.read(), dw.read(), nullptr, Activation::kLinear, dy.view());
  EXPECT_TRUE(same_bits(dy.fetched().at(0, 0), -0.0F));
}

TEST_F(CudaProduct, NanAndInfinityGoThrough) {
  auto x = RowGrid(5, 9).fill(1), w = RowGrid(9, 21).fill(2);
  x.at(1, 3) = std::numeric_limits<float>::quiet_NaN();
  x.at(2, 8) = std::numeric_limits<float>::infinity();
  w.at(4, 20) = -std::numeric_limits<float>::infinity();
  for (const Activation f : kActivations) {
    RowGrid want(5, 21);
    const auto dx = on_device(x), dw = on_device(w), dy = on_device(want);
    exact_->linear(dx.read(), dw.read(), nullptr, f, dy.view());
    reference_->linear(x.read(), w.read(), nullptr, f, want.view());
    EXPECT_TRUE(same_bits(dy.fetched().read(), want.read())) << to_string(f);
  }
}

TEST_F(CudaProduct, SumOfRowsHasTheExactBits) {
  for (const int rows : {0, 1, 2, 7, 15, 16, 17, 33, 100, 257, 1000}) {
    for (const int columns : {1, 10, 16, 17, 33, 70}) {
      for (const int shard : kShards) {
        const auto x = RowGrid(rows, columns).fill(4);
        std::vector<float> want(static_cast<std::size_t>(padded(columns)), 7.0F);
        const auto device_x = on_device(x);
        const auto got = on_device(want);
        exact_->sum_rows(device_x.read(), shard, got.get());
        reference_->sum_rows(x.read(), shard, want.data());
        ASSERT_TRUE(same_bits(got.fetched(), want)) << rows << " x " << columns << ", S = " << shard;
      }
    }
  }
}

TEST_F(CudaProduct, PartsOfRowsJoinToTheWhole) {
  // 100 rows, S = 4: 25 leaves. Rows 0 .. 63 and 64 .. 99 are the two subtrees under the root.
  const auto x = RowGrid(100, 20).fill(1), dy = RowGrid(100, 30).fill(2);
  const auto device_x = on_device(x), device_dy = on_device(dy), whole = on_device(RowGrid(20, 30)),
             left = on_device(RowGrid(20, 30)), right = on_device(RowGrid(20, 30));
  exact_->linear_backward_weights(device_x.read(), device_dy.read(), 4, whole.view());
  exact_->linear_backward_weights(device_x.read().slice_rows(0, 64), device_dy.read().slice_rows(0, 64), 4,
                                  left.view());
  exact_->linear_backward_weights(device_x.read().slice_rows(64, 36), device_dy.read().slice_rows(64, 36), 4,
                                  right.view());
  exact_->add(weight_size(20, 30), left.view().data, right.view().data, left.view().data);
  EXPECT_TRUE(same_bits(left.fetched().floats(), whole.fetched().floats()));
}

}  // namespace
}  // namespace mirrorscale::kernels::testing

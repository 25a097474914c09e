#include "tests/kernels/support.h"

namespace mirrorscale::kernels::testing {
namespace {

class LinearPaper : public BackendTest {};

TEST_P(LinearPaper, TwoByTwoWithBias) {
  auto x = activations(2, 2).set({{1, 2}, {3, 4}});
  auto w = weights(2, 2).set({{5, 6}, {7, 8}});
  auto y = activations(2, 2);
  Line b(2);
  b[0] = 0.5F;
  b[1] = -100;
  backend_->linear(x.read(), w.read(), b.data(), Activation::kLinear, y.view());
  EXPECT_TRUE(same_bits(y.read(), activations(2, 2).set({{19.5F, -78}, {43.5F, -50}}).read()));
  backend_->linear(x.read(), w.read(), b.data(), Activation::kRelu, y.view());
  EXPECT_TRUE(same_bits(y.read(), activations(2, 2).set({{19.5F, 0}, {43.5F, 0}}).read()));
}

TEST_P(LinearPaper, SumsInOneChainInColumnOrder) {
  // ((2^24 + 1) + 1) + 1 = 2^24 when each step rounds; any other order or a wider sum gives more.
  auto x = activations(1, 4).set({{1, 1, 1, 1}});
  auto w = weights(4, 1).set({{0x1p24F}, {1}, {1}, {1}});
  auto y = activations(1, 1);
  backend_->linear(x.read(), w.read(), nullptr, Activation::kLinear, y.view());
  EXPECT_EQ(y.at(0, 0), 0x1p24F);
}

TEST_P(LinearPaper, FusesMultiplicationAndAddition) {
  // (1 + e)^2 - (1 + 2 e) = e^2 is lost when the product is rounded.
  const float e = 0x1p-12F;
  auto x = activations(1, 2).set({{-1, 1 + e}});
  auto w = weights(2, 1).set({{1 + 2 * e}, {1 + e}});
  auto y = activations(1, 1);
  backend_->linear(x.read(), w.read(), nullptr, Activation::kLinear, y.view());
  EXPECT_EQ(y.at(0, 0), e * e);
}

TEST_P(LinearPaper, StartsFromPlusZeroAndKeepsTheSignWithoutBias) {
  // fma(-tiny, tiny, +0) underflows to -0: neither padding of k nor an absent bias may turn it into +0.
  auto x = activations(1, 1).set({{-1e-30F}});
  auto w = weights(1, 1).set({{1e-30F}});
  auto y = activations(1, 1);
  backend_->linear(x.read(), w.read(), nullptr, Activation::kLinear, y.view());
  EXPECT_TRUE(same_bits(y.at(0, 0), -0.0F)) << y.at(0, 0);
  backend_->linear(activations(1, 1).set({{-0.0F}}).read(), weights(1, 1).set({{1}}).read(), nullptr,
                   Activation::kLinear, y.view());
  EXPECT_TRUE(same_bits(y.at(0, 0), 0.0F)) << y.at(0, 0);
}

TEST_P(LinearPaper, InputGradientOfEachActivation) {
  // dy = (1, 2), wt = ((3, 5), (4, 6)): dx = (11, 17) before f'.
  auto dy = activations(1, 2).set({{1, 2}});
  auto wt = weights(2, 2).set({{3, 5}, {4, 6}});
  auto dx = activations(1, 2);
  backend_->linear_backward_input(dy.read(), wt.read(), Activation::kLinear, {}, dx.view());
  EXPECT_TRUE(same_bits(dx.read(), activations(1, 2).set({{11, 17}}).read()));
  backend_->linear_backward_input(dy.read(), wt.read(), Activation::kRelu,
                                  activations(1, 2).set({{0, 0.1F}}).read(), dx.view());
  EXPECT_TRUE(same_bits(dx.read(), activations(1, 2).set({{0, 17}}).read()));
  auto half = activations(1, 2).set({{0.5F, -0.5F}});
  backend_->linear_backward_input(dy.read(), wt.read(), Activation::kTanh, half.read(), dx.view());
  EXPECT_TRUE(same_bits(dx.read(), activations(1, 2).set({{8.25F, 12.75F}}).read()));
  backend_->linear_backward_input(dy.read(), wt.read(), Activation::kSigmoid,
                                  activations(1, 2).set({{0.5F, 0.25F}}).read(), dx.view());
  EXPECT_TRUE(same_bits(dx.read(), activations(1, 2).set({{2.75F, 3.1875F}}).read()));
  backend_->linear_backward_input(dy.read(), wt.read(), Activation::kGelu,
                                  activations(1, 2).set({{0, 0}}).read(), dx.view());
  EXPECT_TRUE(same_bits(dx.read(), activations(1, 2).set({{5.5F, 8.5F}}).read()));
}

TEST_P(LinearPaper, NoRowsIsNoWork) {
  auto x = activations(0, 5), y = activations(0, 3);
  auto w = weights(5, 3), dw = weights(5, 3);
  backend_->linear(x.read(), w.read(), nullptr, Activation::kRelu, y.view());
  backend_->linear_backward_weights(x.read(), y.read(), 4, dw.view());
  EXPECT_TRUE(same_bits(dw.read(), weights(5, 3).read()));
}

MIRRORSCALE_EVERY_BACKEND(LinearPaper);

class LinearBits : public TargetTest {};

TEST_P(LinearBits, ForwardEqualsTheReference) {
  int turn = 0;
  for (const int rows : kSizes) {
    for (const int in : kSizes) {
      for (const int out : kSizes) {
        auto x = activations(rows, in).fill(1), got = activations(rows, out), want = activations(rows, out);
        auto w = weights(in, out).fill(2);
        auto b = Line(static_cast<std::size_t>(out)).fill(3);
        const Activation f = kActivations[turn++ % 5];
        const float* bias = turn % 3 == 0 ? nullptr : b.data();
        cpu_->linear(x.read(), w.read(), bias, f, got.view());
        reference_->linear(x.read(), w.read(), bias, f, want.view());
        ASSERT_TRUE(same_bits(got.read(), want.read()))
            << rows << " x " << in << " x " << out << " " << to_string(f) << (bias ? " with bias" : "");
      }
    }
  }
}

TEST_P(LinearBits, InputGradientEqualsTheReference) {
  int turn = 0;
  for (const int rows : kSizes) {
    for (const int in : kSizes) {
      for (const int out : kSizes) {
        auto dy = activations(rows, out).fill(1), saved = activations(rows, in).fill(2, -0.9, 0.9);
        auto got = activations(rows, in), want = activations(rows, in);
        auto wt = weights(out, in).fill(3);
        const Activation f = kActivations[turn++ % 5];
        cpu_->linear_backward_input(dy.read(), wt.read(), f, saved.read(), got.view());
        reference_->linear_backward_input(dy.read(), wt.read(), f, saved.read(), want.view());
        ASSERT_TRUE(same_bits(got.read(), want.read()))
            << rows << " x " << in << " x " << out << " " << to_string(f);
      }
    }
  }
}

TEST_P(LinearBits, ARowDoesNotDependOnTheOthers) {
  auto x = activations(400, 50).fill(1), all = activations(400, 70);
  auto w = weights(50, 70).fill(2);
  cpu_->linear(x.read(), w.read(), nullptr, Activation::kTanh, all.view());
  for (const int first : {0, 1, 5, 167, 168, 200, 399}) {
    for (const int count : {1, 2, 17, 150}) {
      if (first + count > 400) continue;
      auto part = activations(400, 70);
      const Matrix slice = part.view().slice_rows(first, count);
      cpu_->linear(x.read().slice_rows(first, count), w.read(), nullptr, Activation::kTanh, slice);
      EXPECT_TRUE(same_bits(slice, all.read().slice_rows(first, count))) << first << " + " << count;
    }
  }
}

TEST_P(LinearBits, NanAndInfinityGoWhereTheChainTakesThem) {
  auto x = activations(20, 40).fill(1), got = activations(20, 33), want = activations(20, 33);
  auto w = weights(40, 33).fill(2);
  x.at(3, 7) = std::numeric_limits<float>::quiet_NaN();
  x.at(5, 39) = std::numeric_limits<float>::infinity();
  w.at(0, 32) = -std::numeric_limits<float>::infinity();
  for (const Activation f : kActivations) {
    cpu_->linear(x.read(), w.read(), nullptr, f, got.view());
    reference_->linear(x.read(), w.read(), nullptr, f, want.view());
    EXPECT_TRUE(same_bits(got.read(), want.read())) << to_string(f);
    EXPECT_TRUE(got.at(3, 0) != got.at(3, 0)) << to_string(f);
  }
}

MIRRORSCALE_EVERY_TARGET(LinearBits);

}  // namespace
}  // namespace mirrorscale::kernels::testing

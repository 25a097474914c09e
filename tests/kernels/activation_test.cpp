#include "kernels/activation.h"

#include "tests/kernels/support.h"

#include <stdexcept>

namespace mirrorscale::kernels::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(ActivationNames, GoThereAndBack) {
  for (const Activation f : kActivations) EXPECT_EQ(activation_from(to_string(f)), f);
  EXPECT_EQ(to_string(Activation::kGelu), "gelu");
}

TEST(ActivationNames, AnUnknownOneIsRefusedWithTheList) {
  try {
    activation_from("swish");
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(
        error.what(),
        "[activation] unknown activation 'swish'; expected one of: linear, relu, tanh, sigmoid, gelu");
  }
}

class ActivationPaper : public BackendTest {
 protected:
  std::vector<float> values(Activation f, const std::vector<float>& z) {
    const int columns = static_cast<int>(z.size());
    auto y = activations(1, columns);
    backend_->activate(f, activations(1, columns).set({z}).read(), y.view());
    std::vector<float> found;
    for (int c = 0; c < columns; ++c) found.push_back(y.at(0, c));
    return found;
  }
};

TEST_P(ActivationPaper, Relu) {
  const auto y = values(Activation::kRelu, {-1, -0.0F, 0, 2, -kInfinity, kInfinity, kNan, 1e-45F, -1e-45F});
  const float expected[] = {0, -0.0F, 0, 2, 0, kInfinity, kNan, 1e-45F, 0};
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_TRUE(same_bits(y[i], expected[i])) << i << ": " << y[i];
}

TEST_P(ActivationPaper, TanhSigmoidGeluAtTheirLandmarks) {
  const auto t = values(Activation::kTanh, {0, -0.0F, 20, -20, kInfinity, -kInfinity, kNan});
  const float tanhs[] = {0, -0.0F, 1, -1, 1, -1, kNan};
  for (std::size_t i = 0; i < t.size(); ++i) EXPECT_TRUE(same_bits(t[i], tanhs[i])) << i << ": " << t[i];
  const auto s = values(Activation::kSigmoid, {0, -0.0F, 90, -200, kInfinity, -kInfinity, kNan, -100});
  const float sigmoids[] = {0.5F, 0.5F, 1, 0, 1, 0, kNan};
  for (std::size_t i = 0; i < 7; ++i) EXPECT_TRUE(same_bits(s[i], sigmoids[i])) << i << ": " << s[i];
  EXPECT_NEAR(s[7] * 1e44, 3.72, 0.1);  // exp(-100), a denormal: the stable form keeps it
  const auto g = values(Activation::kGelu, {0, 10, kInfinity, kNan, -10});
  const float gelus[] = {0, 10, kInfinity, kNan, 0};
  for (std::size_t i = 0; i < g.size(); ++i) {
    EXPECT_TRUE(same_bits(g[i], gelus[i]) || (g[i] == 0 && gelus[i] == 0)) << i << ": " << g[i];
  }
}

TEST_P(ActivationPaper, Derivatives) {
  auto dy = activations(1, 3).set({{2, 4, kNan}}), dz = activations(1, 3);
  const std::tuple<Activation, std::vector<float>, std::vector<float>> cases[] = {
      {Activation::kLinear, {5, 6, 7}, {2, 4, kNan}},
      {Activation::kRelu, {0, 1e-30F, -1}, {0, 4, 0}},
      {Activation::kTanh, {0, 0.5F, 0}, {2, 3, kNan}},
      {Activation::kSigmoid, {0.5F, 1, 0.5F}, {0.5F, 0, kNan}},
      {Activation::kGelu, {0, 20, 0}, {1, 4, kNan}}};
  for (const auto& [f, saved, expected] : cases) {
    backend_->activate_backward(f, activations(1, 3).set({saved}).read(), dy.read(), dz.view());
    EXPECT_TRUE(same_bits(dz.read(), activations(1, 3).set({expected}).read())) << to_string(f);
  }
}

TEST_P(ActivationPaper, SoftmaxOfEqualAndOfOneLargeLogit) {
  auto z = activations(3, 4).set({{7, 7, 7, 7}, {1000, 0, -1000, 999}, {-kInfinity, 0, 0, -kInfinity}});
  auto p = activations(3, 4);
  backend_->softmax(z.read(), p.view());
  for (int c = 0; c < 4; ++c) EXPECT_EQ(p.at(0, c), 0.25F);
  EXPECT_NEAR(p.at(1, 0), 0.7310586, 1e-7);
  EXPECT_EQ(p.at(1, 2), 0.0F);
  EXPECT_EQ(p.at(2, 0), 0.0F);
  EXPECT_EQ(p.at(2, 1), 0.5F);
}

TEST_P(ActivationPaper, SoftmaxGradientOfTwoClasses) {
  // p = (1/4, 3/4), dy = (4, 0): the mean slope is 1, dz = (3/4, -3/4).
  auto dz = activations(1, 2);
  backend_->softmax_backward(activations(1, 2).set({{0.25F, 0.75F}}).read(),
                             activations(1, 2).set({{4, 0}}).read(), dz.view());
  EXPECT_TRUE(same_bits(dz.read(), activations(1, 2).set({{0.75F, -0.75F}}).read()));
}

TEST_P(ActivationPaper, RowSumsTakeSixteenChainsAndTheFixedTree) {
  // dy . p with p = 1: columns 0 and 16 share chain 0, columns 0 and 8 meet first in the tree.
  auto p = activations(1, 17), dy = activations(1, 17), dz = activations(1, 17);
  for (int c = 0; c < 17; ++c) p.at(0, c) = 1;
  const auto dot = [&](std::vector<std::pair<int, float>> values) {
    for (int c = 0; c < 17; ++c) dy.at(0, c) = 0;
    for (const auto& [column, value] : values) dy.at(0, column) = value;
    backend_->softmax_backward(p.read(), dy.read(), dz.view());
    return dy.at(0, 3) - dz.at(0, 3);  // column 3 is 0 in each case
  };
  EXPECT_EQ(dot({{0, 0x1p24F}, {16, -0x1p24F}, {8, 1}}), 1.0F);  // (c0 + c16) + c8
  EXPECT_EQ(dot({{0, 0x1p24F}, {8, -0x1p24F}, {4, 1}}), 1.0F);   // (c0 + c8) + (c4 + c12)
  EXPECT_EQ(dot({{0, 0x1p24F}, {4, -0x1p24F}, {8, 1}}), 0.0F);   // (c0 + c8) loses the 1
  EXPECT_EQ(dot({{0, 0x1p24F}, {2, -0x1p24F}, {4, 1}}), 0.0F);   // (c0 + c4) + c2
  EXPECT_EQ(dot({{0, 0x1p24F}, {2, -0x1p24F}, {1, 1}}), 1.0F);   // ((c0 + c4) + c2) + c1
}

MIRRORSCALE_EVERY_BACKEND(ActivationPaper);

class ActivationBits : public TargetTest {};

TEST_P(ActivationBits, EqualTheReferenceInPlaceToo) {
  for (const int rows : {1, 7, 16, 33}) {
    for (const int columns : kSizes) {
      for (const Activation f : kActivations) {
        auto z = activations(rows, columns).fill(1, -12, 12), dy = activations(rows, columns).fill(2);
        auto want = activations(rows, columns), got(z), slope(dy), wanted_slope = activations(rows, columns);
        reference_->activate(f, z.read(), want.view());
        cpu_->activate(f, got.read(), got.view());
        ASSERT_TRUE(same_bits(got.read(), want.read())) << rows << " x " << columns << " " << to_string(f);
        const auto saved = derivative_needs_input(f) ? z.read() : want.read();
        reference_->activate_backward(f, saved, dy.read(), wanted_slope.view());
        cpu_->activate_backward(f, saved, slope.read(), slope.view());
        ASSERT_TRUE(same_bits(slope.read(), wanted_slope.read()))
            << rows << " x " << columns << " " << to_string(f) << " backward";
      }
    }
  }
}

TEST_P(ActivationBits, SoftmaxEqualsTheReferenceInPlaceToo) {
  for (const int rows : {1, 2, 17}) {
    for (const int columns : {1, 2, 3, 7, 10, 15, 16, 17, 31, 33, 64, 65, 100, 1000}) {
      auto z = activations(rows, columns).fill(1, -30, 30), dy = activations(rows, columns).fill(2);
      auto p(z), want = activations(rows, columns), dz(dy), wanted_dz = activations(rows, columns);
      cpu_->softmax(p.read(), p.view());
      reference_->softmax(z.read(), want.view());
      ASSERT_TRUE(same_bits(p.read(), want.read())) << rows << " x " << columns;
      cpu_->softmax_backward(p.read(), dz.read(), dz.view());
      reference_->softmax_backward(p.read(), dy.read(), wanted_dz.view());
      ASSERT_TRUE(same_bits(dz.read(), wanted_dz.read())) << rows << " x " << columns << " backward";
      double sum = 0;
      for (int c = 0; c < columns; ++c) sum += static_cast<double>(p.at(0, c));
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
}

TEST_P(ActivationBits, SoftmaxOfExtremeRowsEqualsTheReference) {
  const std::vector<std::vector<float>> rows = {
      {kNan, 1, 2},      {1, kNan, 2},       {kNan, kNan, kNan},   {-kInfinity, -kInfinity, -kInfinity},
      {kInfinity, 0, 1}, {3e38F, -3e38F, 0}, {-0.0F, 0.0F, -0.0F}, {1e-45F, -1e-45F, 0}};
  auto z = activations(8, 3).set(rows), p = activations(8, 3), want = activations(8, 3);
  cpu_->softmax(z.read(), p.view());
  reference_->softmax(z.read(), want.view());
  EXPECT_TRUE(same_bits(p.read(), want.read()));
  for (const int row : {0, 1, 2, 3, 4}) EXPECT_NE(p.at(row, 2), p.at(row, 2)) << row;  // NaN, not a guess
  EXPECT_EQ(p.at(5, 0), 1.0F);
}

MIRRORSCALE_EVERY_TARGET(ActivationBits);

}  // namespace
}  // namespace mirrorscale::kernels::testing

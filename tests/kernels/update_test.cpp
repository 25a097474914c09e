#include "kernels/update.h"

#include "tests/kernels/support.h"

#include <cmath>
#include <utility>
#include <vector>

namespace mirrorscale::kernels::testing {
namespace {

class UpdatePaper : public BackendTest {};

TEST_P(UpdatePaper, PlainGradientDescent) {
  Line w(16), g(16);
  w[0] = 1;
  g[0] = 8;
  backend_->sgd(16, {.terms = {.scale = 0.25F}, .rate = 0.5F}, g.data(), w.data(), nullptr);
  EXPECT_EQ(w[0], 0.0F);  // 1 - 0.5 * (8 / 4)
  EXPECT_EQ(w[1], 0.0F);
}

TEST_P(UpdatePaper, MomentumAndNesterov) {
  Line w(16), g(16), m(16);
  w[0] = 1;
  g[0] = 2;
  m[0] = 4;
  backend_->sgd(16, {.terms = {}, .rate = 0.25F, .momentum = 0.5F}, g.data(), w.data(), m.data());
  EXPECT_EQ(m[0], 1.5F);  // 0.5 * 4 - 0.25 * 2
  EXPECT_EQ(w[0], 2.5F);
  w[0] = 1;
  m[0] = 4;
  backend_->sgd(16, {.terms = {}, .rate = 0.25F, .momentum = 0.5F, .nesterov = true}, g.data(), w.data(),
                m.data());
  EXPECT_EQ(m[0], 1.5F);
  EXPECT_EQ(w[0], 1.25F);  // 1 + 0.5 * 1.5 - 0.5
}

TEST_P(UpdatePaper, PenaltiesJoinTheScaledGradient) {
  Line w(16), g(16);
  const float start[] = {2, -2, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    w[i] = start[i];
    g[i] = 4;
  }
  // g = 0.5 * 4 + 2 * 0.25 * w + 0.5 * sign(w) = 3.5, 0.5, 2; then w - g
  backend_->sgd(16, {.terms = {.scale = 0.5F, .l1 = 0.5F, .l2 = 0.25F}, .rate = 1}, g.data(), w.data(),
                nullptr);
  EXPECT_EQ(w[0], -1.5F);
  EXPECT_EQ(w[1], -2.5F);
  EXPECT_EQ(w[2], -2.0F);
}

TEST_P(UpdatePaper, AdamOnPaper) {
  Line w(16), g(16), m(16), v(16);
  w[0] = 3;
  g[0] = 2;
  m[0] = 1;
  v[0] = 12;
  // m = 1 + (2 - 1) / 2 = 1.5; v = 12 + (4 - 12) / 2 = 8... with one_minus_beta2 = 3/8: 12 - 3 = 9; root 3.
  backend_->adam(16,
                 {.terms = {},
                  .step_rate = 2,
                  .one_minus_beta1 = 0.5F,
                  .one_minus_beta2 = 0.375F,
                  .epsilon = 1,
                  .decay = 0},
                 g.data(), w.data(), m.data(), v.data());
  EXPECT_EQ(m[0], 1.5F);
  EXPECT_EQ(v[0], 9.0F);
  EXPECT_EQ(w[0], 2.25F);  // 3 - 2 * 1.5 / (3 + 1)
  EXPECT_EQ(w[1], 0.0F);   // padding with no gradient stays
}

TEST_P(UpdatePaper, WeightDecayActsBeforeAdamAndAfterThePenalty) {
  Line w(16), g(16), m(16), v(16);
  w[0] = 4;
  g[0] = 0;
  // g = 0 + 2 * 0.25 * 4 = 2 from the weight as it was; w = 4 - 0.5 * 4 = 2; m = 2; v = 4; w = 2 - 1 * 2 / (2
  // + 0)
  backend_->adam(16,
                 {.terms = {.l2 = 0.25F},
                  .step_rate = 1,
                  .one_minus_beta1 = 1,
                  .one_minus_beta2 = 1,
                  .epsilon = 0x1p-60F,
                  .decay = 0.5F},
                 g.data(), w.data(), m.data(), v.data());
  EXPECT_EQ(m[0], 2.0F);
  EXPECT_EQ(v[0], 4.0F);
  EXPECT_EQ(w[0], 1.0F);
}

TEST_P(UpdatePaper, AmsgradDividesByTheLargestSquareSoFar) {
  Line w(16), g(16), m(16), v(16), largest(16);
  w[0] = 3;
  g[0] = 2;
  m[0] = 1;
  v[0] = 12;
  largest[0] = 49;  // m = 1.5, v = 9 as in AdamOnPaper; root 7 in place of 3
  const Adam step{
      .terms = {}, .step_rate = 2, .one_minus_beta1 = 0.5F, .one_minus_beta2 = 0.375F, .epsilon = 1};
  backend_->amsgrad(16, step, g.data(), w.data(), m.data(), v.data(), largest.data());
  EXPECT_EQ(v[0], 9.0F);
  EXPECT_EQ(largest[0], 49.0F);
  EXPECT_EQ(w[0], 2.625F);  // 3 - 2 * 1.5 / (7 + 1)
  largest[0] = 4;
  backend_->amsgrad(16, step, g.data(), w.data(), m.data(), v.data(), largest.data());
  EXPECT_EQ(largest[0], v[0]);
}

TEST_P(UpdatePaper, RmsPropOnPaper) {
  Line w(16), g(16), v(16), a(16), m(16);
  w[0] = 4;
  g[0] = 2;
  v[0] = 28;  // v = 28 + (4 - 28) / 2 = 16; root of 16 + 9 = 5
  const RmsProp plain{.terms = {}, .rate = 5, .one_minus_rho = 0.5F, .momentum = 0, .epsilon = 9};
  backend_->rms_prop(16, plain, g.data(), w.data(), v.data(), nullptr, nullptr);
  EXPECT_EQ(v[0], 16.0F);
  EXPECT_EQ(w[0], 2.0F);  // 4 - 5 * 2 / 5
  w[0] = 4;
  v[0] = 28;
  a[0] = 4;  // a = 4 + (2 - 4) / 2 = 3; root of 16 - 9 + 9 = 4
  m[0] = 8;
  RmsProp all = plain;
  all.momentum = 0.25F;
  all.rate = 4;
  backend_->rms_prop(16, all, g.data(), w.data(), v.data(), a.data(), m.data());
  EXPECT_EQ(a[0], 3.0F);
  EXPECT_EQ(m[0], 4.0F);  // 8 / 4 + 4 * 2 / 4
  EXPECT_EQ(w[0], 0.0F);
  // A square below its mean's by rounding is no negative number under the root.
  w[0] = 4;
  v[0] = 4;
  a[0] = 8;
  g[0] = 2;
  backend_->rms_prop(16, all, g.data(), w.data(), v.data(), a.data(), nullptr);
  EXPECT_FALSE(std::isnan(w[0]));
}

TEST_P(UpdatePaper, AdagradOnPaper) {
  Line w(16), g(16), a(16);
  w[0] = 4;
  g[0] = 4;
  a[0] = 7;  // 7 + 16 = 23; root of 23 + 2 = 5
  backend_->adagrad(16, {.terms = {.scale = 1}, .rate = 2.5F, .epsilon = 2}, g.data(), w.data(), a.data());
  EXPECT_EQ(a[0], 23.0F);
  EXPECT_EQ(w[0], 2.0F);
}

TEST_P(UpdatePaper, WeightDecayActsBeforeGradientDescent) {
  Line w(16), g(16), m(16);
  w[0] = 4;
  g[0] = 2;
  backend_->sgd(16, {.terms = {}, .rate = 0.5F, .decay = 0.25F}, g.data(), w.data(), nullptr);
  EXPECT_EQ(w[0], 2.0F);  // 4 - 0.25 * 4 - 0.5 * 2
  w[0] = 4;
  m[0] = 4;
  backend_->sgd(16, {.terms = {}, .rate = 0.25F, .momentum = 0.5F, .decay = 0.25F}, g.data(), w.data(),
                m.data());
  EXPECT_EQ(w[0], 4.5F);  // 3 + (0.5 * 4 - 0.25 * 2)
}

TEST_P(UpdatePaper, LambDirectionOnPaper) {
  Line w(16), g(16), m(16), v(16), u(16);
  w[0] = 8;
  g[0] = 2;
  m[0] = 1;
  v[0] = 12;
  // As AdamOnPaper m = 1.5, v = 9; 2 * 1.5 / (sqrt(4 * 9) + 2) + 0.25 * 8
  const Lamb step{.terms = {},
                  .one_minus_beta1 = 0.5F,
                  .one_minus_beta2 = 0.375F,
                  .mean_factor = 2,
                  .square_factor = 4,
                  .epsilon = 2,
                  .weight_decay = 0.25F};
  backend_->lamb_direction(16, step, g.data(), w.data(), m.data(), v.data(), u.data());
  EXPECT_EQ(m[0], 1.5F);
  EXPECT_EQ(v[0], 9.0F);
  EXPECT_EQ(u[0], 2.375F);
  EXPECT_EQ(w[0], 8.0F);
  EXPECT_EQ(u[1], 0.0F);  // padding has no direction
}

TEST_P(UpdatePaper, AverageOfWeights) {
  Line w(16), a(16);
  w[0] = 3;
  a[0] = 1;
  backend_->average(16, 0.25F, w.data(), a.data());
  EXPECT_EQ(a[0], 1.5F);
  backend_->average(16, 1, w.data(), a.data());
  EXPECT_EQ(a[0], 3.0F);
}

TEST_P(UpdatePaper, GradientsAreClippedAfterScaleAndPenalty) {
  Line w(16), g(16);
  const float sums[] = {8, -8, 2, 0};
  for (std::size_t i = 0; i < 4; ++i) g[i] = sums[i];
  w[3] = 4;
  backend_->effective_gradient(16, {.scale = 0.5F, .l2 = 0.5F}, 1.5F, g.data(), w.data(), g.data());
  EXPECT_EQ(g[0], 1.5F);   // 4
  EXPECT_EQ(g[1], -1.5F);  // -4
  EXPECT_EQ(g[2], 1.0F);
  EXPECT_EQ(g[3], 1.5F);  // 0 + 2 * 0.5 * 4
  g[0] = 8;
  backend_->effective_gradient(16, {.scale = 0.5F}, 0, g.data(), w.data(), g.data());
  EXPECT_EQ(g[0], 4.0F);
}

TEST_P(UpdatePaper, SquaresOfBlocks) {
  Line arena(weight_size(18, 20));  // 2 x 2 blocks, numbered down the rows first; padding is 0
  const Matrix w = weight_view(Layout::kPanels, arena.data(), 18, 20);
  w.at(0, 0) = 3;
  w.at(15, 15) = 4;
  w.at(16, 0) = 2;
  w.at(17, 19) = 5;
  float squares[4] = {-1, -1, -1, -1};
  const ConstMatrix all{w.data, w.rows, w.columns, w.panel_stride, w.row_stride};
  backend_->squares_of_blocks(all, 0, 4, squares);
  EXPECT_EQ(std::vector<float>(squares, squares + 4), (std::vector<float>{25, 4, 0, 25}));
  backend_->squares_of_blocks(all, 3, 1, squares);
  EXPECT_EQ(squares[0], 25);
}

TEST_P(UpdatePaper, NormsAndSums) {
  auto w = Line(40);
  w[0] = 3;
  w[39] = -4;
  EXPECT_EQ(backend_->sum_of_squares(48, w.data()), 25.0F);
  EXPECT_EQ(backend_->sum_of_magnitudes(48, w.data()), 7.0F);
  EXPECT_TRUE(same_bits(backend_->sum_of_squares(0, w.data()), 0.0F));
}

TEST_P(UpdatePaper, TransposesPartOfTheBlocks) {
  auto w = weights(18, 20).fill(1);  // 2 x 2 blocks
  auto wt = weights(20, 18);
  backend_->transpose(w.read(), wt.view(), 0, 1);
  EXPECT_EQ(wt.at(3, 5), w.at(5, 3));
  EXPECT_EQ(wt.at(17, 5), 0.0F);
  backend_->transpose(w.read(), wt.view(), 1, 3);
  for (int r = 0; r < 18; ++r) {
    for (int c = 0; c < 20; ++c) EXPECT_EQ(wt.at(c, r), w.at(r, c)) << r << ", " << c;
  }
}

TEST_P(UpdatePaper, FmaPeakDoesTheWorkItReports) {
  const double done = backend_->run_fma_peak(1e6);
  EXPECT_GE(done, 1e6);
  EXPECT_LE(done, 1.01e6);
}

MIRRORSCALE_EVERY_BACKEND(UpdatePaper);

class UpdateBits : public TargetTest {};

TEST_P(UpdateBits, OptimizersEqualTheReferenceOverManySteps) {
  const GradientTerms terms[] = {{.scale = 1.0F / 96},
                                 {.scale = 1.0F / 32, .l1 = 1e-3F},
                                 {.scale = 1, .l1 = 1e-4F, .l2 = 1e-3F},
                                 {.scale = 0.3F, .l2 = 1e-2F}};
  for (const std::size_t count : {16UL, 48UL, 1024UL, 4112UL}) {
    for (const GradientTerms& t : terms) {
      auto w = Line(count).fill(1), m = Line(count).fill(2, -0.1, 0.1), v = Line(count).fill(3, 0, 0.1);
      auto u = Line(count).fill(4, 0, 0.1);
      Line w2(w), m2(m), v2(v), u2(u);
      for (std::uint64_t step = 0; step < 6; ++step) {
        auto g = Line(count).fill(10 + step, -3, 3);
        const Sgd sgd{.terms = t,
                      .rate = 0.01F,
                      .momentum = step % 3 == 0 ? 0.0F : 0.9F,
                      .nesterov = step % 3 == 1,
                      .decay = step % 2 == 0 ? 0.0F : 1e-3F};
        const Adam adam{.terms = t, .step_rate = 1e-3F, .decay = step % 2 == 0 ? 0.0F : 1e-4F};
        cpu_->sgd(count, sgd, g.data(), w.data(), m.data());
        reference_->sgd(count, sgd, g.data(), w2.data(), m2.data());
        cpu_->adam(count, adam, g.data(), w.data(), m.data(), v.data());
        reference_->adam(count, adam, g.data(), w2.data(), m2.data(), v2.data());
        cpu_->amsgrad(count, adam, g.data(), w.data(), m.data(), v.data(), u.data());
        reference_->amsgrad(count, adam, g.data(), w2.data(), m2.data(), v2.data(), u2.data());
        const RmsProp rms{.terms = t, .rate = 1e-3F, .momentum = 0.5F};
        const bool centred = step % 2 == 0, moved = step % 3 == 0;
        cpu_->rms_prop(count, rms, g.data(), w.data(), v.data(), centred ? u.data() : nullptr,
                       moved ? m.data() : nullptr);
        reference_->rms_prop(count, rms, g.data(), w2.data(), v2.data(), centred ? u2.data() : nullptr,
                             moved ? m2.data() : nullptr);
        const Adagrad adagrad{.terms = t, .rate = 1e-3F};
        cpu_->adagrad(count, adagrad, g.data(), w.data(), v.data());
        reference_->adagrad(count, adagrad, g.data(), w2.data(), v2.data());
        Line got(count), want(count);
        const Lamb lamb{.terms = t, .mean_factor = 3, .square_factor = 2, .weight_decay = adam.decay};
        cpu_->lamb_direction(count, lamb, g.data(), w.data(), m.data(), v.data(), got.data());
        reference_->lamb_direction(count, lamb, g.data(), w2.data(), m2.data(), v2.data(), want.data());
        ASSERT_TRUE(same_bits(got, want)) << count;
        cpu_->average(count, 0.01F, w.data(), u.data());
        reference_->average(count, 0.01F, w2.data(), u2.data());
        const float most = step % 2 == 0 ? 0.0F : 0.01F;
        cpu_->effective_gradient(count, t, most, g.data(), w.data(), got.data());
        reference_->effective_gradient(count, t, most, g.data(), w2.data(), want.data());
        ASSERT_TRUE(same_bits(got, want)) << count;
      }
      ASSERT_TRUE(same_bits(w, w2) && same_bits(m, m2) && same_bits(v, v2) && same_bits(u, u2)) << count;
    }
  }
}

TEST_P(UpdateBits, SumsAndTranspositionEqualTheReference) {
  for (const std::size_t count : {16UL, 32UL, 48UL, 1008UL, 4096UL}) {
    auto a = Line(count).fill(1), b = Line(count).fill(2);
    Line got(count), want(count);
    cpu_->add(count, a.data(), b.data(), got.data());
    reference_->add(count, a.data(), b.data(), want.data());
    ASSERT_TRUE(same_bits(got, want)) << count;
    cpu_->add(count, got.data(), b.data(), got.data());
    reference_->add(count, want.data(), b.data(), want.data());
    ASSERT_TRUE(same_bits(got, want)) << count << " in place";
    EXPECT_TRUE(
        same_bits(cpu_->sum_of_squares(count, a.data()), reference_->sum_of_squares(count, a.data())));
    EXPECT_TRUE(
        same_bits(cpu_->sum_of_magnitudes(count, a.data()), reference_->sum_of_magnitudes(count, a.data())));
  }
  for (const int in : kSizes) {
    for (const int out : kSizes) {
      auto w = weights(in, out).fill(1), got = weights(out, in), want = weights(out, in);
      const std::size_t blocks = weight_size(in, out) / kBlock;
      cpu_->transpose(w.read(), got.view(), 0, blocks / 2);
      cpu_->transpose(w.read(), got.view(), blocks / 2, blocks - blocks / 2);
      reference_->transpose(w.read(), want.view(), 0, blocks);
      ASSERT_TRUE(same_bits(got.read(), want.read())) << in << " x " << out;
      Line arena(weight_size(in, out));
      arena.fill(3);
      const ConstMatrix all = weight_view(Layout::kPanels, std::as_const(arena).data(), in, out);
      std::vector<float> squares(blocks), wanted(blocks);
      cpu_->squares_of_blocks(all, 0, blocks / 2, squares.data());
      cpu_->squares_of_blocks(all, blocks / 2, blocks - blocks / 2, squares.data() + blocks / 2);
      reference_->squares_of_blocks(all, 0, blocks, wanted.data());
      ASSERT_EQ(squares, wanted) << in << " x " << out;
    }
  }
}

MIRRORSCALE_EVERY_TARGET(UpdateBits);

}  // namespace
}  // namespace mirrorscale::kernels::testing

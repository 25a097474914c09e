#include "kernels/update.h"

#include "tests/kernels/cuda/support.h"

#include <utility>

namespace mirrorscale::kernels::testing {
namespace {

std::vector<float> random_floats(std::size_t count, std::uint64_t seed, double low = -1, double high = 1) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(random_value(seed, i, low, high));
  return values;
}

class CudaUpdate : public CudaTest {};

TEST_F(CudaUpdate, OptimizersHaveTheExactBitsOverManySteps) {
  const GradientTerms terms[] = {{.scale = 1.0F / 96},
                                 {.scale = 1.0F / 32, .l1 = 1e-3F},
                                 {.scale = 1, .l1 = 1e-4F, .l2 = 1e-3F},
                                 {.scale = 0.3F, .l2 = 1e-2F}};
  for (const std::size_t count : {16UL, 48UL, 1024UL, 4112UL}) {
    for (const GradientTerms& t : terms) {
      auto w = random_floats(count, 1), m = random_floats(count, 2, -0.1, 0.1),
           v = random_floats(count, 3, 0, 0.1), u = random_floats(count, 4, 0, 0.1);
      const auto device_w = on_device(w), device_m = on_device(m), device_v = on_device(v),
                 device_u = on_device(u);
      for (std::uint64_t step = 0; step < 6; ++step) {
        const auto g = random_floats(count, 10 + step, -3, 3);
        const auto device_g = on_device(g);
        const Sgd sgd{.terms = t,
                      .rate = 0.01F,
                      .momentum = step % 3 == 0 ? 0.0F : 0.9F,
                      .nesterov = step % 3 == 1,
                      .decay = step % 2 == 0 ? 0.0F : 1e-3F};
        const Adam adam{.terms = t, .step_rate = 1e-3F, .decay = step % 2 == 0 ? 0.0F : 1e-4F};
        exact_->sgd(count, sgd, device_g.get(), device_w.get(), sgd.momentum == 0 ? nullptr : device_m.get());
        reference_->sgd(count, sgd, g.data(), w.data(), m.data());
        exact_->adam(count, adam, device_g.get(), device_w.get(), device_m.get(), device_v.get());
        reference_->adam(count, adam, g.data(), w.data(), m.data(), v.data());
        exact_->amsgrad(count, adam, device_g.get(), device_w.get(), device_m.get(), device_v.get(),
                        device_u.get());
        reference_->amsgrad(count, adam, g.data(), w.data(), m.data(), v.data(), u.data());
        const RmsProp rms{.terms = t, .rate = 1e-3F, .momentum = 0.5F};
        const bool centred = step % 2 == 0, moved = step % 3 == 0;
        exact_->rms_prop(count, rms, device_g.get(), device_w.get(), device_v.get(),
                         centred ? device_u.get() : nullptr, moved ? device_m.get() : nullptr);
        reference_->rms_prop(count, rms, g.data(), w.data(), v.data(), centred ? u.data() : nullptr,
                             moved ? m.data() : nullptr);
        const Adagrad adagrad{.terms = t, .rate = 1e-3F};
        exact_->adagrad(count, adagrad, device_g.get(), device_w.get(), device_v.get());
        reference_->adagrad(count, adagrad, g.data(), w.data(), v.data());
        exact_->average(count, 0.01F, device_w.get(), device_u.get());
        reference_->average(count, 0.01F, w.data(), u.data());
        auto clipped = g, direction = g;
        const auto device_direction = on_device(g);
        const Lamb lamb{.terms = t, .mean_factor = 3, .square_factor = 2, .weight_decay = adam.decay};
        exact_->lamb_direction(count, lamb, device_direction.get(), device_w.get(), device_m.get(),
                               device_v.get(), device_direction.get());
        reference_->lamb_direction(count, lamb, g.data(), w.data(), m.data(), v.data(), direction.data());
        ASSERT_TRUE(same_bits(device_direction.fetched(), direction)) << count;
        const float most = step % 2 == 0 ? 0.0F : 0.01F;
        exact_->effective_gradient(count, t, most, device_g.get(), device_w.get(), device_g.get());
        reference_->effective_gradient(count, t, most, g.data(), w.data(), clipped.data());
        ASSERT_TRUE(same_bits(device_g.fetched(), clipped)) << count;
      }
      ASSERT_TRUE(same_bits(device_u.fetched(), u)) << count;
      ASSERT_TRUE(same_bits(device_w.fetched(), w)) << count;
      ASSERT_TRUE(same_bits(device_m.fetched(), m)) << count;
      ASSERT_TRUE(same_bits(device_v.fetched(), v)) << count;
    }
  }
}

TEST_F(CudaUpdate, SquaresOfBlocksHaveTheBitsOfTheOtherLayout) {
  constexpr int kRows = 37, kColumns = 50;
  const std::size_t size = weight_size(kRows, kColumns), blocks = size / kBlock;
  std::vector<float> panels(size), rows(size);
  const Matrix p = weight_view(Layout::kPanels, panels.data(), kRows, kColumns);
  const Matrix r = weight_view(Layout::kRows, rows.data(), kRows, kColumns);
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      p.at(i, j) = static_cast<float>(random_value(6, static_cast<std::size_t>(i * kColumns + j), -2, 2));
      r.at(i, j) = p.at(i, j);
    }
  }
  std::vector<float> expected(blocks);
  reference_->squares_of_blocks(weight_view(Layout::kPanels, std::as_const(panels).data(), kRows, kColumns),
                                0, blocks, expected.data());
  const auto device_w = on_device(rows), device_squares = on_device(std::vector<float>(blocks));
  const ConstMatrix w =
      weight_view(Layout::kRows, static_cast<const float*>(device_w.get()), kRows, kColumns);
  exact_->squares_of_blocks(w, 0, 5, device_squares.get());
  exact_->squares_of_blocks(w, 5, blocks - 5, device_squares.get() + 5);
  EXPECT_TRUE(same_bits(device_squares.fetched(), expected));
}

TEST_F(CudaUpdate, SumsOverAnArenaHaveTheExactBits) {
  for (const std::size_t count : {0UL, 16UL, 4096UL, 4112UL, 20000UL}) {
    const auto w = random_floats(count, 5, -2, 2);
    const auto device_w = on_device(w);
    EXPECT_TRUE(
        same_bits(exact_->sum_of_squares(count, device_w.get()), reference_->sum_of_squares(count, w.data())))
        << count;
    EXPECT_TRUE(same_bits(exact_->sum_of_magnitudes(count, device_w.get()),
                          reference_->sum_of_magnitudes(count, w.data())))
        << count;
  }
}

TEST_F(CudaUpdate, FastSumsOverAnArenaAreCloseAndTheSameAgain) {
  const auto fast = make_backend("cuda", {.numerics = Numerics::kFast});
  for (const std::size_t count : {0UL, 16UL, 200000UL}) {
    const auto w = random_floats(count, 5, -2, 2);
    const DeviceFloats device_w(*fast, w);
    double squares = 0, magnitudes = 0;
    for (const float x : w) {
      squares += static_cast<double>(x) * static_cast<double>(x);
      magnitudes += std::abs(static_cast<double>(x));
    }
    const float got = fast->sum_of_squares(count, device_w.get());
    EXPECT_NEAR(static_cast<double>(got), squares, squares * 1e-5);
    EXPECT_NEAR(static_cast<double>(fast->sum_of_magnitudes(count, device_w.get())), magnitudes,
                magnitudes * 1e-5);
    EXPECT_TRUE(same_bits(fast->sum_of_squares(count, device_w.get()), got));
  }
}

TEST_F(CudaUpdate, AddsInPlace) {
  const auto a = random_floats(1040, 1), b = random_floats(1040, 2);
  std::vector<float> want(1040);
  reference_->add(1040, a.data(), b.data(), want.data());
  const auto left = on_device(a), right = on_device(b), apart = on_device(std::vector<float>(1040));
  exact_->add(1040, left.get(), right.get(), apart.get());
  EXPECT_TRUE(same_bits(apart.fetched(), want));
  exact_->add(1040, left.get(), right.get(), right.get());
  EXPECT_TRUE(same_bits(right.fetched(), want));
  const auto again = on_device(b);
  exact_->add(1040, left.get(), again.get(), left.get());
  EXPECT_TRUE(same_bits(left.fetched(), want));
}

TEST_F(CudaUpdate, TransposesWholeBlocksAndPartsOfThem) {
  for (const auto& [in, out] : {std::pair{18, 20}, {1, 1}, {16, 48}, {70, 33}}) {
    const auto w = RowGrid(in, out).fill(1);
    RowGrid want(out, in);
    const auto device_w = on_device(w), whole = on_device(want), parts = on_device(want);
    const std::size_t blocks = weight_size(in, out) / kBlock;
    reference_->transpose(w.read(), want.view(), 0, blocks);
    exact_->transpose(device_w.read(), whole.view(), 0, blocks);
    EXPECT_TRUE(same_bits(whole.fetched().read(), want.read())) << in << " x " << out;
    exact_->transpose(device_w.read(), parts.view(), 0, 1);
    exact_->transpose(device_w.read(), parts.view(), 1, blocks - 1);
    EXPECT_TRUE(same_bits(parts.fetched().read(), want.read())) << in << " x " << out << " in parts";
  }
}

TEST_F(CudaUpdate, FmaPeakDoesTheWorkItReports) {
  for (const double flops : {1e6, 3e7}) {
    const double done = exact_->run_fma_peak(flops);
    EXPECT_GE(done, flops);
    EXPECT_LE(done, 1.01 * flops);
  }
  exact_->synchronize();
}

}  // namespace
}  // namespace mirrorscale::kernels::testing

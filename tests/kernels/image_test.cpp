#include "kernels/reference/images.h"
#include "tests/kernels/image_cases.h"
#include "tests/kernels/support.h"

#include <cmath>

namespace mirrorscale::kernels::testing {
namespace {

class Images : public TargetTest {};

Grid<float> input(const Convolution& g, int samples) {
  return g.packed ? activations(samples, g.window.in_pixels() * g.channels)
                  : activations(samples * g.window.in_pixels(), g.channels);
}

TEST_P(Images, ConvolutionHasTheBitsOfTheReference) {
  for (const ImageCase& c : kImageCases) {
    SCOPED_TRACE(c.name);
    const Convolution& g = c.g;
    auto x = input(g, c.samples).fill(1);
    auto w = weights(g.kernel_rows(), g.filters).fill(2);
    Line b(static_cast<std::size_t>(g.filters)), scratch(convolution_scratch(g));
    b.fill(3);
    auto y = activations(c.samples * g.window.out_pixels(), g.filters), expected = y;
    for (const Activation f : {Activation::kLinear, Activation::kTanh}) {
      const float* bias = f == Activation::kLinear ? nullptr : b.data();
      cpu_->convolve(g, x.read(), w.read(), bias, f, y.view(), scratch.data());
      reference_->convolve(g, x.read(), w.read(), bias, f, expected.view(), scratch.data());
      ASSERT_TRUE(same_bits(y.read(), expected.read())) << to_string(f);
    }
  }
}

TEST_P(Images, ConvolutionGradientsHaveTheBitsOfTheReference) {
  for (const ImageCase& c : kImageCases) {
    SCOPED_TRACE(c.name);
    const Convolution& g = c.g;
    auto x = input(g, c.samples).fill(1);
    auto dy = activations(c.samples * g.window.out_pixels(), g.filters).fill(4);
    Line scratch(convolution_scratch(g));
    auto dw = weights(g.kernel_rows(), g.filters), expected_dw = dw;
    cpu_->convolve_backward_weights(g, x.read(), dy.read(), c.shard_samples, dw.view(), scratch.data());
    reference_->convolve_backward_weights(g, x.read(), dy.read(), c.shard_samples, expected_dw.view(),
                                          scratch.data());
    const int rows = padded(g.kernel_rows()), columns = padded(g.filters);
    ASSERT_TRUE(same_bits(ConstMatrix{dw.view().data, rows, columns, dw.view().panel_stride},
                          ConstMatrix{expected_dw.view().data, rows, columns, dw.view().panel_stride}))
        << "padding included";
    if (g.packed) continue;
    auto wt = weights(g.filters, g.kernel_rows()).fill(5);
    auto dx = activations(c.samples * g.window.in_pixels(), g.channels), expected = dx, saved = dx;
    saved.fill(6);
    for (const Activation f : {Activation::kLinear, Activation::kGelu}) {
      cpu_->convolve_backward_input(g, dy.read(), wt.read(), f, saved.read(), dx.view(), scratch.data());
      reference_->convolve_backward_input(g, dy.read(), wt.read(), f, saved.read(), expected.view(),
                                          scratch.data());
      ASSERT_TRUE(same_bits(dx.read(), expected.read())) << to_string(f);
    }
  }
}

/// Of `shard_samples` samples each, so many that subtrees wait for one another at several levels.
TEST_P(Images, TheTreeGoesOverMicroShardsOfSamples) {
  const Convolution g{{axis(3, 2), axis(3, 2)}, 2, 3};
  for (const int samples : {0, 1, 2, 3, 7, 8, 13}) {
    auto x = input(g, samples).fill(1);
    auto dy = activations(samples * 4, 3).fill(2);
    Line scratch(convolution_scratch(g));
    auto dw = weights(g.kernel_rows(), 3), expected = dw;
    cpu_->convolve_backward_weights(g, x.read(), dy.read(), 1, dw.view(), scratch.data());
    reference_->convolve_backward_weights(g, x.read(), dy.read(), 1, expected.view(), scratch.data());
    ASSERT_TRUE(same_bits(dw.read(), expected.read())) << samples;
  }
}

TEST_P(Images, PoolingHasTheBitsOfTheReference) {
  for (const Window& w : kPoolWindows) {
    for (const int channels : {1, 16, 37}) {
      SCOPED_TRACE(std::to_string(w.y.in) + " x " + std::to_string(w.x.in) + " x " +
                   std::to_string(channels));
      auto x = activations(3 * w.in_pixels(), channels).fill(1), dx = x, expected_dx = x, kept = x;
      for (int r = 0; r < x.rows(); ++r) {
        for (int c = 0; c < channels; ++c) x.at(r, c) = std::round(2 * x.at(r, c));  // ties
      }
      x.at(1, 0) = std::numeric_limits<float>::quiet_NaN();
      auto dy = activations(3 * w.out_pixels(), channels).fill(2), y = dy, expected = dy;
      cpu_->max_pool(w, x.read(), y.view());
      reference_->max_pool(w, x.read(), expected.view());
      ASSERT_TRUE(same_bits(y.read(), expected.read()));
      for (const Activation f : {Activation::kLinear, Activation::kRelu, Activation::kGelu}) {
        cpu_->max_pool_backward(w, x.read(), dy.read(), f, x.read(), dx.view());
        reference_->max_pool_backward(w, x.read(), dy.read(), f, x.read(), expected_dx.view());
        ASSERT_TRUE(same_bits(dx.read(), expected_dx.read())) << to_string(f);
        cpu_->average_pool_backward(w, dy.read(), f, x.read(), dx.view());
        reference_->average_pool_backward(w, dy.read(), f, x.read(), expected_dx.view());
        ASSERT_TRUE(same_bits(dx.read(), expected_dx.read())) << to_string(f);
      }
      cpu_->average_pool(w, x.read(), y.view());
      reference_->average_pool(w, x.read(), expected.view());
      ASSERT_TRUE(same_bits(y.read(), expected.read()));
      auto row = activations(3, w.in_pixels() * channels), expected_row = row;
      cpu_->pack_pixels(w.in_pixels(), x.read(), row.view());
      reference_->pack_pixels(w.in_pixels(), x.read(), expected_row.view());
      ASSERT_TRUE(same_bits(row.read(), expected_row.read()));
      cpu_->unpack_pixels(w.in_pixels(), row.read(), Activation::kTanh, kept.read(), expected_dx.view());
      reference_->unpack_pixels(w.in_pixels(), row.read(), Activation::kTanh, kept.read(), dx.view());
      ASSERT_TRUE(same_bits(expected_dx.read(), dx.read()));
    }
  }
}

MIRRORSCALE_EVERY_TARGET(Images);

class ImagesPaper : public BackendTest {};

TEST_P(ImagesPaper, ThreeByThreeWithPadding) {
  const Convolution g{{axis(3, 2, 1, 1, 0, 1), axis(3, 2, 1, 1, 0, 1)}, 1, 1};
  auto x = activations(9, 1).set({{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}});
  auto w = weights(g.kernel_rows(), 1), wt = weights(1, g.kernel_rows()), dw = w;
  for (int tap = 0; tap < 4; ++tap)
    w.at(g.kernel_row(tap, 0), 0) = wt.at(0, g.kernel_row(tap, 0)) = float(tap + 1);
  Line scratch(convolution_scratch(g));
  auto y = activations(9, 1);
  backend_->convolve(g, x.read(), w.read(), nullptr, Activation::kLinear, y.view(), scratch.data());
  EXPECT_TRUE(same_bits(y.read(),
                        activations(9, 1).set({{37}, {47}, {21}, {67}, {77}, {33}, {23}, {26}, {9}}).read()));
  auto dy = activations(9, 1).set({{1}, {0}, {0}, {0}, {2}, {0}, {0}, {0}, {3}});
  auto dx = activations(9, 1);
  backend_->convolve_backward_input(g, dy.read(), wt.read(), Activation::kLinear, {}, dx.view(),
                                    scratch.data());
  EXPECT_TRUE(same_bits(dx.read(),
                        activations(9, 1).set({{1}, {2}, {0}, {3}, {4 + 2}, {4}, {0}, {6}, {8 + 3}}).read()));
  backend_->convolve_backward_weights(g, x.read(), dy.read(), 1, dw.view(), scratch.data());
  const float expected[] = {1 + 10 + 27, 2 + 12, 4 + 16, 5 + 18};
  for (int tap = 0; tap < 4; ++tap) EXPECT_EQ(dw.at(g.kernel_row(tap, 0), 0), expected[tap]) << tap;
}

TEST_P(ImagesPaper, TheFirstOfTheLargestGetsTheGradientAndNaNIsNotHidden) {
  const Window w{axis(1, 1), axis(6, 2, 2)};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto x = activations(6, 1).set({{2}, {2}, {-1}, {3}, {nan}, {9}});
  auto y = activations(3, 1), dx = x;
  backend_->max_pool(w, x.read(), y.view());
  EXPECT_TRUE(same_bits(y.read(), activations(3, 1).set({{2}, {3}, {nan}}).read()));
  backend_->max_pool_backward(w, x.read(), activations(3, 1).set({{5}, {6}, {7}}).read(), Activation::kLinear,
                              {}, dx.view());
  EXPECT_TRUE(same_bits(dx.read(), activations(6, 1).set({{5}, {0}, {0}, {6}, {7}, {0}}).read()));
}

TEST_P(ImagesPaper, AveragesCountNoPadding) {
  const Window w{axis(1, 1), axis(3, 2, 2, 1, 1)};
  auto y = activations(2, 1), dx = activations(3, 1);
  backend_->average_pool(w, activations(3, 1).set({{4}, {6}, {8}}).read(), y.view());
  EXPECT_TRUE(same_bits(y.read(), activations(2, 1).set({{4}, {7}}).read()));
  backend_->average_pool_backward(w, activations(2, 1).set({{1}, {3}}).read(), Activation::kLinear, {},
                                  dx.view());
  EXPECT_TRUE(same_bits(dx.read(), activations(3, 1).set({{1}, {1.5F}, {1.5F}}).read()));
}

MIRRORSCALE_EVERY_BACKEND(ImagesPaper);

}  // namespace
}  // namespace mirrorscale::kernels::testing

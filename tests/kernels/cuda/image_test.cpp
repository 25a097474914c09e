#include "tests/kernels/cuda/support.h"
#include "tests/kernels/image_cases.h"

#include <cmath>

namespace mirrorscale::kernels::testing {
namespace {

class CudaImages : public CudaTest {};

RowGrid input(const Convolution& g, int samples) {
  return g.packed ? RowGrid(samples, g.window.in_pixels() * g.channels)
                  : RowGrid(samples * g.window.in_pixels(), g.channels);
}
/// Rows between taps are padding, and there they are zeros.
RowGrid kernel(const Convolution& g) {
  return RowGrid(g.kernel_rows(), g.filters).fill(2);
}

TEST_F(CudaImages, ConvolutionHasTheBitsOfTheReference) {
  for (const ImageCase& c : kImageCases) {
    SCOPED_TRACE(c.name);
    const Convolution& g = c.g;
    const RowGrid x = input(g, c.samples).fill(1), w = kernel(g);
    std::vector<float> b(static_cast<std::size_t>(padded(g.filters)), 0.25F), scratch(convolution_scratch(g));
    const auto device_x = on_device(x), device_w = on_device(w);
    const auto device_b = on_device(b);
    RowGrid y(c.samples * g.window.out_pixels(), g.filters);
    const auto device_y = on_device(y);
    for (const Activation f : {Activation::kLinear, Activation::kTanh}) {
      const bool biased = f != Activation::kLinear;
      reference_->convolve(g, x.read(), w.read(), biased ? b.data() : nullptr, f, y.view(), scratch.data());
      exact_->convolve(g, device_x.read(), device_w.read(), biased ? device_b.get() : nullptr, f,
                       device_y.view(), nullptr);
      ASSERT_TRUE(same_bits(device_y.fetched().read(), y.read())) << to_string(f);
    }
  }
}

TEST_F(CudaImages, ConvolutionGradientsHaveTheBitsOfTheReference) {
  for (const ImageCase& c : kImageCases) {
    SCOPED_TRACE(c.name);
    const Convolution& g = c.g;
    const RowGrid x = input(g, c.samples).fill(1),
                  dy = RowGrid(c.samples * g.window.out_pixels(), g.filters).fill(4);
    std::vector<float> scratch(convolution_scratch(g));
    const auto device_x = on_device(x), device_dy = on_device(dy);
    RowGrid dw(g.kernel_rows(), g.filters);
    const auto device_dw = on_device(dw);
    reference_->convolve_backward_weights(g, x.read(), dy.read(), c.shard_samples, dw.view(), scratch.data());
    exact_->convolve_backward_weights(g, device_x.read(), device_dy.read(), c.shard_samples, device_dw.view(),
                                      nullptr);
    ASSERT_TRUE(same_bits(device_dw.fetched().floats(), dw.floats())) << "padding included";
    if (g.packed) continue;
    const RowGrid wt = RowGrid(g.filters, g.kernel_rows()).fill(5);
    RowGrid dx(c.samples * g.window.in_pixels(), g.channels);
    const RowGrid saved = RowGrid(dx.rows(), dx.columns()).fill(6);
    const auto device_wt = on_device(wt), device_saved = on_device(saved), device_dx = on_device(dx);
    for (const Activation f : {Activation::kLinear, Activation::kGelu}) {
      reference_->convolve_backward_input(g, dy.read(), wt.read(), f, saved.read(), dx.view(),
                                          scratch.data());
      exact_->convolve_backward_input(g, device_dy.read(), device_wt.read(), f, device_saved.read(),
                                      device_dx.view(), nullptr);
      ASSERT_TRUE(same_bits(device_dx.fetched().read(), dx.read())) << to_string(f);
    }
  }
}

TEST_F(CudaImages, PoolingHasTheBitsOfTheReference) {
  for (const Window& w : kPoolWindows) {
    for (const int channels : {1, 37}) {
      SCOPED_TRACE(std::to_string(w.y.in) + " x " + std::to_string(w.x.in) + " x " +
                   std::to_string(channels));
      RowGrid x = RowGrid(3 * w.in_pixels(), channels).fill(1);
      x.fill_with([&](int r, int c) { return std::round(2 * x.at(r, c)); });  // ties
      x.at(1, 0) = std::numeric_limits<float>::quiet_NaN();
      const RowGrid dy = RowGrid(3 * w.out_pixels(), channels).fill(2);
      RowGrid y = dy, dx = x;
      const auto device_x = on_device(x), device_dy = on_device(dy), device_y = on_device(y),
                 device_dx = on_device(dx);
      reference_->max_pool(w, x.read(), y.view());
      exact_->max_pool(w, device_x.read(), device_y.view());
      ASSERT_TRUE(same_bits(device_y.fetched().read(), y.read()));
      reference_->average_pool(w, x.read(), y.view());
      exact_->average_pool(w, device_x.read(), device_y.view());
      ASSERT_TRUE(same_bits(device_y.fetched().read(), y.read()));
      for (const Activation f : {Activation::kLinear, Activation::kRelu, Activation::kGelu}) {
        reference_->max_pool_backward(w, x.read(), dy.read(), f, x.read(), dx.view());
        exact_->max_pool_backward(w, device_x.read(), device_dy.read(), f, device_x.read(), device_dx.view());
        ASSERT_TRUE(same_bits(device_dx.fetched().read(), dx.read())) << to_string(f);
        reference_->average_pool_backward(w, dy.read(), f, x.read(), dx.view());
        exact_->average_pool_backward(w, device_dy.read(), f, device_x.read(), device_dx.view());
        ASSERT_TRUE(same_bits(device_dx.fetched().read(), dx.read())) << to_string(f);
      }
      RowGrid row(3, w.in_pixels() * channels);
      const auto device_row = on_device(row);
      reference_->pack_pixels(w.in_pixels(), x.read(), row.view());
      exact_->pack_pixels(w.in_pixels(), device_x.read(), device_row.view());
      ASSERT_TRUE(same_bits(device_row.fetched().read(), row.read()));
      reference_->unpack_pixels(w.in_pixels(), row.read(), Activation::kTanh, x.read(), dx.view());
      exact_->unpack_pixels(w.in_pixels(), device_row.read(), Activation::kTanh, device_x.read(),
                            device_dx.view());
      ASSERT_TRUE(same_bits(device_dx.fetched().read(), dx.read()));
    }
  }
}

}  // namespace
}  // namespace mirrorscale::kernels::testing

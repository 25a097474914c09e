// Every backward op against finite differences of its forward op, in double, with the reference templates:
// the same text that defines the bits in float.
#include "tests/kernels/gradient_check.h"

#include "kernels/reference/images.h"
#include "kernels/reference/losses.h"
#include "kernels/reference/ops.h"
#include "tests/kernels/image_cases.h"
#include "tests/kernels/support.h"

#include <functional>
#include <tuple>

namespace mirrorscale::kernels::testing {
namespace {

class GradientCheck : public ::testing::TestWithParam<Activation> {};

TEST_P(GradientCheck, TwoLayersWithBias) {
  const Activation f = GetParam();
  // h = f(x w1 + b1), y = h w2; the loss is y . r.
  auto x = activations<double>(5, 4).fill(1), z = activations<double>(5, 7), h = activations<double>(5, 7);
  auto y = activations<double>(5, 3), r = activations<double>(5, 3).fill(2);
  auto w1 = weights<double>(4, 7).fill(3), w2 = weights<double>(7, 3).fill(4), w2t = weights<double>(3, 7);
  auto b1 = activations<double>(1, 7).fill(5);  // one panel: a bias vector
  const auto loss = [&] {
    reference::linear<double>(x.read(), w1.read(), &b1.at(0, 0), Activation::kLinear, z.view());
    reference::linear<double>(x.read(), w1.read(), &b1.at(0, 0), f, h.view());
    reference::linear<double>(h.read(), w2.read(), nullptr, Activation::kLinear, y.view());
    return weigh(y, r);
  };
  loss();
  reference::transpose<double>(w2.read(), w2t.view(), 0, 1);
  auto dw1 = weights<double>(4, 7), dw2 = weights<double>(7, 3), db1 = activations<double>(1, 7);
  auto dz = activations<double>(5, 7), dx = activations<double>(5, 4), w1t = weights<double>(7, 4);
  reference::linear_backward_weights<double>(h.read(), r.read(), 2, dw2.view());
  reference::linear_backward_input<double>(r.read(), w2t.read(), f,
                                           derivative_needs_input(f) ? z.read() : h.read(), dz.view());
  reference::linear_backward_weights<double>(x.read(), dz.read(), 2, dw1.view());
  reference::sum_rows<double>(dz.read(), 2, &db1.at(0, 0));
  reference::transpose<double>(w1.read(), w1t.view(), 0, 1);
  reference::linear_backward_input<double>(dz.read(), w1t.read(), Activation::kLinear, {}, dx.view());
  expect_gradient(w2, dw2, loss, "w2");
  expect_gradient(w1, dw1, loss, "w1");
  expect_gradient(b1, db1, loss, "b1");
  expect_gradient(x, dx, loss, "x");
}

TEST_P(GradientCheck, ActivationAlone) {
  const Activation f = GetParam();
  auto z = activations<double>(3, 20).fill(1, -3, 3), y = activations<double>(3, 20);
  auto r = activations<double>(3, 20).fill(2), dz = activations<double>(3, 20);
  const auto loss = [&] {
    reference::activate<double>(f, z.read(), y.view());
    return weigh(y, r);
  };
  loss();
  reference::activate_backward<double>(f, derivative_needs_input(f) ? z.read() : y.read(), r.read(),
                                       dz.view());
  expect_gradient(z, dz, loss, std::string(to_string(f)));
}

INSTANTIATE_TEST_SUITE_P(Activations, GradientCheck, ::testing::ValuesIn(kActivations),
                         [](const auto& given) { return std::string(to_string(given.param)); });

TEST(GradientCheckOfRows, Softmax) {
  auto z = activations<double>(3, 19).fill(1, -2, 2), p = activations<double>(3, 19);
  auto r = activations<double>(3, 19).fill(2), dz = activations<double>(3, 19);
  const auto loss = [&] {
    reference::softmax<double>(z.read(), p.view());
    return weigh(p, r);
  };
  loss();
  reference::softmax_backward<double>(p.read(), r.read(), dz.view());
  expect_gradient(z, dz, loss, "softmax");
}

TEST(GradientCheckOfRows, SparseLosses) {
  const int labels[] = {2, 18, 0};
  const double weight[] = {1, 0.25, 2};
  auto z = activations<double>(3, 19).fill(1, 0.05, 0.95), g = activations<double>(3, 19);
  double losses[3];
  using Loss = void (*)(BasicMatrix<const double>, const int*, const double*, double, BasicMatrix<double>,
                        reference::BasicColumn<double>);
  const std::pair<Loss, const char*> runs[] = {
      {&reference::softmax_cross_entropy<double>, "softmax cross-entropy"},
      {&reference::sparse_cross_entropy<double>, "sparse cross-entropy"}};
  for (const auto& [run, name] : runs) {
    for (const double smoothing : {0.0, 0.2}) {
      const auto loss = [&, run = run] {
        run(z.read(), labels, weight, smoothing, {}, {losses, 1});
        return losses[0] + losses[1] + losses[2];
      };
      run(z.read(), labels, weight, smoothing, g.view(), {});
      expect_gradient(z, g, loss, name);
    }
  }
}

TEST(GradientCheckOfRows, DenseLosses) {
  const double weight[] = {1, 0.25, 2};
  auto y = activations<double>(3, 19).fill(1, 0.05, 0.95), t = activations<double>(3, 19).fill(2, 0.01, 0.99);
  auto g = activations<double>(3, 19);
  double losses[3];
  using Loss = std::function<void(BasicMatrix<double>, reference::BasicColumn<double>)>;
  const auto binary = [&](double smoothing) {
    return [&, smoothing](BasicMatrix<double> gradient, reference::BasicColumn<double> loss) {
      reference::binary_cross_entropy<double>(y.read(), t.read(), weight, smoothing, gradient, loss);
    };
  };
  const auto binary_from_logits = [&](double smoothing) {
    return [&, smoothing](BasicMatrix<double> gradient, reference::BasicColumn<double> loss) {
      reference::binary_cross_entropy_from_logits<double>(y.read(), t.read(), weight, smoothing, gradient,
                                                          loss);
    };
  };
  const std::pair<Loss, const char*> runs[] = {
      {[&](auto gradient, auto loss) {
         reference::mean_squared_error<double>(y.read(), t.read(), weight, gradient, loss);
       },
       "squared"},
      {[&](auto gradient, auto loss) {
         reference::mean_absolute_error<double>(y.read(), t.read(), weight, gradient, loss);
       },
       "absolute"},
      {binary_from_logits(0), "binary from logits"},
      {binary_from_logits(0.2), "binary from logits, smoothed"},
      {binary(0), "binary"},
      {binary(0.2), "binary, smoothed"}};
  for (const auto& [run, name] : runs) {
    const auto loss = [&, run = run] {
      run({}, {losses, 1});
      return losses[0] + losses[1] + losses[2];
    };
    run(g.view(), {});
    expect_gradient(y, g, loss, name);
  }
}

TEST(GradientCheckOfImages, Convolution) {
  for (const ImageCase& c : kImageCases) {
    const Convolution& g = c.g;  // no structured binding: clang 14 can't capture one
    const int samples = c.samples, shard = c.shard_samples;
    if (samples * g.window.out_pixels() * g.filters > 600) continue;
    SCOPED_TRACE(c.name);
    auto x = (g.packed ? activations<double>(samples, g.window.in_pixels() * g.channels)
                       : activations<double>(samples * g.window.in_pixels(), g.channels))
                 .fill(1);
    auto w = weights<double>(g.kernel_rows(), g.filters).fill(2), dw = w;
    auto wt = weights<double>(g.filters, g.kernel_rows());
    for (int r = 0; r < w.rows(); ++r) {
      for (int k = 0; k < w.columns(); ++k) wt.at(k, r) = w.at(r, k);
    }
    auto y = activations<double>(samples * g.window.out_pixels(), g.filters), r = y;
    r.fill(3);
    auto dx = x;
    const auto loss = [&] {
      reference::convolve<double>(g, x.read(), w.read(), nullptr, Activation::kLinear, y.view());
      return weigh(y, r);
    };
    reference::convolve_backward_weights<double>(g, x.read(), r.read(), shard, dw.view());
    expect_gradient(w, dw, loss, "w");
    if (g.packed) continue;
    reference::convolve_backward_input<double>(g, r.read(), wt.read(), Activation::kLinear, {}, dx.view());
    expect_gradient(x, dx, loss, "x");
  }
}

TEST(GradientCheckOfImages, Pools) {
  for (const Window& w : kPoolWindows) {
    auto x = activations<double>(2 * w.in_pixels(), 3).fill(1), dx = x;
    auto y = activations<double>(2 * w.out_pixels(), 3), r = y;
    r.fill(2);
    reference::max_pool_backward<double>(w, x.read(), r.read(), Activation::kLinear, {}, dx.view());
    expect_gradient(
        x, dx,
        [&] {
          reference::max_pool<double>(w, x.read(), y.view());
          return weigh(y, r);
        },
        "maximum");
    reference::average_pool_backward<double>(w, r.read(), Activation::kLinear, {}, dx.view());
    expect_gradient(
        x, dx,
        [&] {
          reference::average_pool<double>(w, x.read(), y.view());
          return weigh(y, r);
        },
        "average");
  }
}

}  // namespace
}  // namespace mirrorscale::kernels::testing

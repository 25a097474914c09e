#include "tests/kernels/cuda/support.h"

#include <array>
#include <cmath>

namespace mirrorscale::kernels::testing {
namespace {

/// What a precision rounds: its factors by `unit`, sums by float32's.
struct Rounding {
  Precision precision;
  const char* name;
  double unit;
};
constexpr double kFloatUnit = 0x1p-24;
constexpr Rounding kRoundings[] = {{Precision::kFloat32, "float32", 0x1p-24},
                                   {Precision::kTensorFloat32, "tensorfloat32", 0x1p-11},
                                   {Precision::kBfloat16, "bfloat16", 0x1p-9},
                                   {Precision::kFloat16, "float16", 0x1p-11}};

/// Allowed distance from a double computation with factors not rounded: both factors of each product rounded,
/// and `depth` additions. `magnitude` is the sum of |a b|. A tensor core may also cut off instead of
/// rounding: twice.
double allowance(const Rounding& rounding, int depth, double magnitude) {
  const double factors = rounding.precision == Precision::kFloat32 ? 0 : 2.01 * 2 * rounding.unit;
  return (factors + 2.0 * (depth + 2) * kFloatUnit) * magnitude + 1e-30;
}

class CudaFast : public CudaTest {
 protected:
  static std::unique_ptr<Backend> fast(Precision precision) {
    return make_backend("cuda", {.numerics = Numerics::kFast, .precision = precision});
  }
  struct Sum {
    double value = 0, magnitude = 0;
    void add(float a, float b) {
      value += static_cast<double>(a) * static_cast<double>(b);
      magnitude += std::abs(static_cast<double>(a) * static_cast<double>(b));
    }
  };
  static double activated(Activation f, double z) {
    switch (f) {
      case Activation::kLinear:
        return z;
      case Activation::kRelu:
        return z < 0 ? 0 : z;
      case Activation::kTanh:
        return std::tanh(z);
      case Activation::kSigmoid:
        return 1 / (1 + std::exp(-z));
      case Activation::kGelu:
        return z / 2 * (1 + std::erf(z / std::sqrt(2.0)));
    }
    return z;
  }
};

TEST_F(CudaFast, ProductsAreWithinTheirRoundingErrors) {
  const std::array<int, 3> sizes[] = {{1, 1, 1}, {3, 17, 10}, {33, 70, 16}, {64, 100, 37}};
  for (const Rounding& rounding : kRoundings) {
    const auto backend = fast(rounding.precision);
    EXPECT_EQ(backend->info().numerics, "fast");
    EXPECT_EQ(backend->info().precision, rounding.name);
    for (const auto& [rows, in, out] : sizes) {
      auto x = RowGrid(rows, in).fill(1), w = RowGrid(in, out).fill(2), dy = RowGrid(rows, out).fill(3);
      std::vector<float> bias(static_cast<std::size_t>(out));
      for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(random_value(4, i, -1, 1));
      const DeviceGrid device_x(*backend, x), device_w(*backend, w), device_dy(*backend, dy),
          y(*backend, RowGrid(rows, out)), dw(*backend, RowGrid(in, out).fill(9));
      const DeviceFloats device_bias(*backend, bias);
      for (const Activation f : kActivations) {
        for (const bool with_bias : {false, true}) {
          backend->linear(device_x.read(), device_w.read(), with_bias ? device_bias.get() : nullptr, f,
                          y.view());
          auto got = y.fetched();
          for (int r = 0; r < rows; ++r) {
            for (int c = 0; c < out; ++c) {
              Sum sum;
              for (int k = 0; k < in; ++k) sum.add(x.at(r, k), w.at(k, c));
              if (with_bias) sum.add(bias[static_cast<std::size_t>(c)], 1);
              // No derivative is above 1.13; an activation itself adds a few roundings.
              const double allowed = 1.13 * allowance(rounding, in + 1, sum.magnitude) + 1e-6;
              ASSERT_NEAR(static_cast<double>(got.at(r, c)), activated(f, sum.value), allowed)
                  << rounding.name << " " << to_string(f) << " " << rows << " x " << in << " x " << out;
            }
          }
        }
      }
      backend->linear_backward_weights(device_x.read(), device_dy.read(), 4, dw.view());
      auto got_dw = dw.fetched();
      for (int i = 0; i < padded(in); ++i) {
        for (int c = 0; c < padded(out); ++c) {
          if (i >= in || c >= out) {
            ASSERT_TRUE(same_bits(got_dw.at(i, c), 0.0F)) << "padding at " << i << ", " << c;
            continue;
          }
          Sum sum;
          for (int r = 0; r < rows; ++r) sum.add(x.at(r, i), dy.at(r, c));
          ASSERT_NEAR(static_cast<double>(got_dw.at(i, c)), sum.value,
                      allowance(rounding, rows, sum.magnitude))
              << rounding.name << " dw " << rows << " x " << in << " x " << out;
        }
      }
    }
  }
}

TEST_F(CudaFast, InputGradientTimesTheDerivative) {
  for (const Rounding& rounding : kRoundings) {
    const auto backend = fast(rounding.precision);
    auto dy = RowGrid(19, 40).fill(1), wt = RowGrid(40, 23).fill(2),
         saved = RowGrid(19, 23).fill(3, -0.9, 0.9);
    const DeviceGrid device_dy(*backend, dy), device_wt(*backend, wt), device_saved(*backend, saved),
        dx(*backend, RowGrid(19, 23));
    for (const Activation f : kActivations) {
      backend->linear_backward_input(device_dy.read(), device_wt.read(), f,
                                     f == Activation::kLinear ? ConstMatrix{} : device_saved.read(),
                                     dx.view());
      auto got = dx.fetched();
      for (int r = 0; r < 19; ++r) {
        for (int c = 0; c < 23; ++c) {
          Sum sum;
          for (int k = 0; k < 40; ++k) sum.add(dy.at(r, k), wt.at(k, c));
          const double s = static_cast<double>(saved.at(r, c)), pi = 3.14159265358979;
          const double slope = f == Activation::kLinear    ? 1
                               : f == Activation::kRelu    ? (s > 0 ? 1 : 0)
                               : f == Activation::kTanh    ? 1 - s * s
                               : f == Activation::kSigmoid ? s * (1 - s)
                                                           : (1 + std::erf(s / std::sqrt(2.0))) / 2 +
                                                                 s * std::exp(-s * s / 2) / std::sqrt(2 * pi);
          ASSERT_NEAR(static_cast<double>(got.at(r, c)), sum.value * slope,
                      1.13 * allowance(rounding, 40, sum.magnitude) + 1e-6)
              << rounding.name << " " << to_string(f);
        }
      }
    }
  }
}

TEST_F(CudaFast, TheSameBitsFromRunToRun) {
  for (const Rounding& rounding : kRoundings) {
    std::vector<std::vector<float>> runs;
    for (int run = 0; run < 2; ++run) {
      const auto backend = fast(rounding.precision);
      const DeviceGrid x(*backend, RowGrid(300, 40).fill(1)), dy(*backend, RowGrid(300, 24).fill(2)),
          dw(*backend, RowGrid(40, 24));
      for (int again = 0; again < 2; ++again) {
        backend->linear_backward_weights(x.read(), dy.read(), 8, dw.view());
        runs.push_back(dw.fetched().floats());
      }
    }
    for (const auto& run : runs) EXPECT_TRUE(same_bits(run, runs.front())) << rounding.name;
  }
}

TEST_F(CudaFast, NanStaysInRelu) {
  const auto backend = fast(Precision::kFloat32);
  auto x = RowGrid(2, 3).fill(1);
  x.at(1, 1) = std::numeric_limits<float>::quiet_NaN();
  const DeviceGrid device_x(*backend, x), w(*backend, RowGrid(3, 5).fill(2)), y(*backend, RowGrid(2, 5));
  backend->linear(device_x.read(), w.read(), nullptr, Activation::kRelu, y.view());
  auto got = y.fetched();
  for (int c = 0; c < 5; ++c) {
    EXPECT_EQ(got.at(0, c), got.at(0, c));
    EXPECT_NE(got.at(1, c), got.at(1, c));
  }
}

TEST_F(CudaFast, NoRowsGiveAZeroWeightGradient) {
  const auto backend = fast(Precision::kBfloat16);
  const DeviceGrid x(*backend, RowGrid(0, 5)), y(*backend, RowGrid(0, 3)), w(*backend, RowGrid(5, 3)),
      dw(*backend, RowGrid(5, 3).fill(1));
  backend->linear(x.read(), w.read(), nullptr, Activation::kRelu, y.view());
  backend->linear_backward_weights(x.read(), y.read(), 4, dw.view());
  EXPECT_TRUE(same_bits(dw.fetched().floats(), std::vector<float>(16 * 16)));
}

}  // namespace
}  // namespace mirrorscale::kernels::testing

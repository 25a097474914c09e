#include "tests/kernels/support.h"

#include <functional>

namespace mirrorscale::kernels::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class LossPaper : public BackendTest {
 protected:
  Line loss_{16 * 4};
  Column column() { return {loss_.data(), kPanel}; }
};

TEST_P(LossPaper, CrossEntropyOfEqualLogitsIsLogOfTheClasses) {
  auto z = activations(2, 4), g = activations(2, 4);
  const int labels[] = {1, 3};
  const float weights[] = {1, 2};
  backend_->softmax_cross_entropy(z.read(), labels, weights, 0, g.view(), column());
  EXPECT_NEAR(loss_[0], 1.3862944, 2e-7);
  EXPECT_EQ(loss_[16], 2 * loss_[0]);
  EXPECT_TRUE(same_bits(
      g.read(), activations(2, 4).set({{0.25F, -0.75F, 0.25F, 0.25F}, {0.5F, 0.5F, 0.5F, -1.5F}}).read()));
}

TEST_P(LossPaper, CrossEntropyAtTheExtremes) {
  auto z = activations(4, 3).set({{1e4F, 0, 0}, {1e4F, 0, 0}, {kNan, 0, 0}, {-kInfinity, 0, 0}});
  auto g = activations(4, 3);
  const int labels[] = {0, 1, 1, 0};
  backend_->softmax_cross_entropy(z.read(), labels, nullptr, 0, g.view(), column());
  EXPECT_EQ(loss_[0], 0.0F);
  EXPECT_EQ(loss_[16], 1e4F);
  EXPECT_NE(loss_[32], loss_[32]);
  EXPECT_EQ(loss_[48], kInfinity);
  EXPECT_TRUE(same_bits(g.read().slice_rows(0, 2), activations(2, 3).set({{0, 0, 0}, {1, -1, 0}}).read()));
  EXPECT_NE(g.at(2, 2), g.at(2, 2));
}

TEST_P(LossPaper, CrossEntropyOfProbabilities) {
  auto p = activations(3, 2).set({{0.5F, 0.5F}, {0, 1}, {0, 1}}), g = activations(3, 2);
  const int labels[] = {0, 0, 1};
  const float weights[] = {3, 1, 1};
  backend_->sparse_cross_entropy(p.read(), labels, weights, 0, g.view(), column());
  EXPECT_NEAR(loss_[0], 3 * 0.6931472, 3e-7);
  EXPECT_NEAR(loss_[16], 16.118095, 2e-6);  // -log 1e-7
  EXPECT_NEAR(loss_[32], 1.1920929e-7, 1e-12);
  EXPECT_TRUE(same_bits(g.read(), activations(3, 2).set({{-6, 0}, {0, 0}, {0, 0}}).read()));
}

TEST_P(LossPaper, SquaredAndAbsoluteErrors) {
  auto y = activations(2, 2).set({{1, 2}, {0, 5}}), t = activations(2, 2).set({{0, 4}, {0, 4}});
  auto g = activations(2, 2);
  const float weights[] = {1, 0.5F};
  backend_->mean_squared_error(y.read(), t.read(), weights, g.view(), column());
  EXPECT_EQ(loss_[0], 2.5F);
  EXPECT_EQ(loss_[16], 0.25F);
  EXPECT_TRUE(same_bits(g.read(), activations(2, 2).set({{1, -2}, {0, 0.5F}}).read()));
  backend_->mean_absolute_error(y.read(), t.read(), weights, g.view(), column());
  EXPECT_EQ(loss_[0], 1.5F);
  EXPECT_EQ(loss_[16], 0.25F);
  EXPECT_TRUE(same_bits(g.read(), activations(2, 2).set({{0.5F, -0.5F}, {0, 0.25F}}).read()));
}

TEST_P(LossPaper, BinaryCrossEntropies) {
  auto z = activations(3, 1).set({{0}, {100}, {-100}}), t = activations(3, 1).set({{1}, {0}, {0}});
  auto g = activations(3, 1);
  backend_->binary_cross_entropy_from_logits(z.read(), t.read(), nullptr, 0, g.view(), column());
  EXPECT_NEAR(loss_[0], 0.6931472, 1e-7);
  EXPECT_EQ(loss_[16], 100.0F);
  EXPECT_NEAR(loss_[32] * 1e44, 3.72, 0.1);  // log(1 + exp(-100)) = exp(-100): not lost in 1 + exp(-100)
  EXPECT_EQ(g.at(0, 0), -0.5F);
  EXPECT_EQ(g.at(1, 0), 1.0F);
  auto p = activations(3, 1).set({{0.25F}, {0}, {1}});
  auto u = activations(3, 1).set({{1}, {1}, {1}});
  backend_->binary_cross_entropy(p.read(), u.read(), nullptr, 0, g.view(), column());
  EXPECT_NEAR(loss_[0], 1.3862944, 2e-7);
  EXPECT_NEAR(loss_[16], 16.118095, 2e-6);
  EXPECT_TRUE(same_bits(g.read(), activations(3, 1).set({{-4}, {0}, {0}}).read()));
}

TEST_P(LossPaper, LabelSmoothing) {
  // Keras: with 0.2 over 4 classes a label is {0.05, 0.85, 0.05, 0.05}; a binary 1 is 0.9.
  auto z = activations(1, 4).set({{0, 1, 0, 0}}), g = activations(1, 4);
  const int labels[] = {1};
  const float weights[] = {2};
  backend_->softmax_cross_entropy(z.read(), labels, weights, 0.2F, g.view(), column());
  EXPECT_NEAR(loss_[0], 2 * (1.7436684 - 0.85), 1e-6);  // log(e + 3) - 0.85
  EXPECT_NEAR(g.at(0, 0), 2 * (0.1748777 - 0.05), 1e-6);
  EXPECT_NEAR(g.at(0, 1), 2 * (0.4753669 - 0.85), 1e-6);
  auto p = activations(1, 4).set({{0.25F, 0.5F, 0.25F, 0}});
  backend_->sparse_cross_entropy(p.read(), labels, nullptr, 0.2F, g.view(), column());
  // -(0.85 log 0.5 + 0.1 log 0.25 + 0.05 log 1e-7)
  EXPECT_NEAR(loss_[0], 0.5891751 + 0.1386294 + 0.8059048, 1e-6);
  EXPECT_NEAR(g.at(0, 0), -0.2, 1e-7);
  EXPECT_NEAR(g.at(0, 1), -1.7, 1e-6);
  EXPECT_EQ(g.at(0, 3), 0.0F);  // clamped
  auto one = activations(2, 1).set({{0}, {0}}), t = activations(2, 1).set({{1}, {0}}), d = activations(2, 1);
  backend_->binary_cross_entropy_from_logits(one.read(), t.read(), nullptr, 0.2F, d.view(), column());
  EXPECT_NEAR(loss_[0], 0.6931472, 1e-7);
  EXPECT_NEAR(d.at(0, 0), -0.4, 1e-7);
  EXPECT_NEAR(d.at(1, 0), 0.4, 1e-7);
  auto half = activations(1, 1).set({{0.25F}});
  backend_->binary_cross_entropy(half.read(), t.read().slice_rows(0, 1), nullptr, 0.2F,
                                 d.view().slice_rows(0, 1), column());
  EXPECT_NEAR(loss_[0], 0.9 * 1.3862944 + 0.1 * 0.2876821, 1e-6);
}

TEST_P(LossPaper, HitsTakeTheFirstLargestColumn) {
  auto s = activations(6, 3).set(
      {{1, 3, 3}, {1, 3, 3}, {2, 1, 0}, {kNan, 1, 0}, {kNan, kNan, kNan}, {-0.0F, 0, -1}});
  const int labels[] = {1, 2, 0, 1, 0, 0};
  const float weights[] = {1, 1, 0.5F, 1, 1, 1};
  Line hits(6 * 16);
  backend_->sparse_hits(s.read(), labels, weights, {hits.data(), kPanel});
  const float expected[] = {1, 0, 0.5F, 1, 0, 1};
  for (std::size_t r = 0; r < 6; ++r) EXPECT_EQ(hits[r * 16], expected[r]) << r;
}

TEST_P(LossPaper, BinaryHitsAreStrictlyAboveTheThreshold) {
  auto y = activations(1, 4).set({{0.3F, 0.31F, 0, kNan}}), t = activations(1, 4).set({{1, 1, 0, 0}});
  Line hits(16);
  backend_->binary_hits(y.read(), t.read(), 0.3F, nullptr, {hits.data(), kPanel});
  EXPECT_EQ(hits[0], 0.75F);
}

MIRRORSCALE_EVERY_BACKEND(LossPaper);

class LossBits : public TargetTest {
 protected:
  /// Gradient and loss of `run` from both backends, in place, apart, and with one of them left out.
  void expect_same(const Grid<float>& z, const std::string& what,
                   const std::function<void(Backend&, ConstMatrix, Matrix, Column)>& run) {
    const auto rows = static_cast<std::size_t>(z.rows());
    auto got = activations(z.rows(), z.columns()), want = activations(z.rows(), z.columns()), in_place(z);
    Line got_loss(rows * 16), want_loss(rows * 16), alone(rows * 16);
    run(*cpu_, z.read(), got.view(), {got_loss.data(), kPanel});
    run(*reference_, z.read(), want.view(), {want_loss.data(), kPanel});
    ASSERT_TRUE(same_bits(got.read(), want.read())) << what;
    ASSERT_TRUE(same_bits(got_loss, want_loss)) << what;
    run(*cpu_, z.read(), {}, {alone.data(), kPanel});
    ASSERT_TRUE(same_bits(alone, want_loss)) << what << ", loss alone";
    run(*cpu_, in_place.read(), in_place.view(), {});
    ASSERT_TRUE(same_bits(in_place.read(), want.read())) << what << ", in place";
    auto again(z);
    run(*reference_, again.read(), again.view(), {});
    ASSERT_TRUE(same_bits(again.read(), want.read())) << what << ", reference in place";
  }
};

TEST_P(LossBits, EveryLossEqualsTheReference) {
  for (const int rows : {1, 3, 16, 33}) {
    for (const int columns : {1, 2, 3, 7, 10, 15, 16, 17, 31, 33, 64, 65, 100}) {
      for (const bool weighted : {false, true}) {
        std::vector<int> labels;
        std::vector<float> weight_values;
        for (int r = 0; r < rows; ++r) {
          labels.push_back((r * 7 + 3) % columns);
          weight_values.push_back(0.1F * static_cast<float>(r % 5));
        }
        const float* w = weighted ? weight_values.data() : nullptr;
        auto z = activations(rows, columns).fill(1, -20, 20),
             p = activations(rows, columns).fill(2, -0.1, 1.1);
        auto t = activations(rows, columns).fill(3, 0, 1);
        const std::string size = std::to_string(rows) + " x " + std::to_string(columns);
        const float smoothing = rows == 3 || rows == 33 ? 0.1F : 0.0F;
        expect_same(z, "softmax cross-entropy " + size,
                    [&](Backend& b, ConstMatrix in, Matrix g, Column loss) {
                      b.softmax_cross_entropy(in, labels.data(), w, smoothing, g, loss);
                    });
        expect_same(p, "sparse cross-entropy " + size,
                    [&](Backend& b, ConstMatrix in, Matrix g, Column loss) {
                      b.sparse_cross_entropy(in, labels.data(), w, smoothing, g, loss);
                    });
        expect_same(z, "squared " + size, [&](Backend& b, ConstMatrix in, Matrix g, Column loss) {
          b.mean_squared_error(in, t.read(), w, g, loss);
        });
        expect_same(z, "absolute " + size, [&](Backend& b, ConstMatrix in, Matrix g, Column loss) {
          b.mean_absolute_error(in, t.read(), w, g, loss);
        });
        expect_same(z, "binary from logits " + size, [&](Backend& b, ConstMatrix in, Matrix g, Column loss) {
          b.binary_cross_entropy_from_logits(in, t.read(), w, smoothing, g, loss);
        });
        expect_same(p, "binary " + size, [&](Backend& b, ConstMatrix in, Matrix g, Column loss) {
          b.binary_cross_entropy(in, t.read(), w, smoothing, g, loss);
        });
        Line got(static_cast<std::size_t>(rows) * 16), want(static_cast<std::size_t>(rows) * 16);
        for (const auto& [backend, hits] : {std::pair{cpu_.get(), &got}, {reference_.get(), &want}}) {
          backend->binary_hits(p.read(), t.read(), 0.4F, w, {hits->data(), kPanel});
        }
        ASSERT_TRUE(same_bits(got, want)) << "binary hits " << size;
        for (int r = 0; r < rows; r += 2) z.at(r, (labels[static_cast<std::size_t>(r)] + 1) % columns) = 25;
        for (int r = 0; r < rows; r += 3) z.at(r, labels[static_cast<std::size_t>(r)]) = 25;
        for (const auto& [backend, hits] : {std::pair{cpu_.get(), &got}, {reference_.get(), &want}}) {
          backend->sparse_hits(z.read(), labels.data(), w, {hits->data(), kPanel});
        }
        ASSERT_TRUE(same_bits(got, want)) << "sparse hits " << size;
      }
    }
  }
}

TEST_P(LossBits, ExtremeValuesEqualTheReference) {
  const float extremes[] = {kNan,  kInfinity, -kInfinity, 3e38F, -3e38F,     1e-45F,
                            -0.0F, 0,         1,          1e-7F, 0.9999999F, 88.8F};
  auto z = activations(24, 20).fill(1);
  const std::vector<int> labels = {0,  1,  2,  3,  4,  5,  6,  7,  8, 9, 10, 11,
                                   12, 13, 14, 15, 16, 17, 18, 19, 0, 1, 2,  3};
  auto t = activations(24, 20).fill(3, 0, 1);
  for (int r = 0; r < 24; ++r) {
    z.at(r, r % 20) = extremes[r % 12];
    if (r >= 12) z.at(r, (r + 3) % 20) = extremes[(r * 5) % 12];
  }
  for (const float smoothing : {0.0F, 0.2F}) {
    expect_same(z, "softmax cross-entropy", [&](Backend& b, ConstMatrix in, Matrix g, Column loss) {
      b.softmax_cross_entropy(in, labels.data(), nullptr, smoothing, g, loss);
    });
    expect_same(z, "sparse cross-entropy", [&](Backend& b, ConstMatrix in, Matrix g, Column loss) {
      b.sparse_cross_entropy(in, labels.data(), nullptr, smoothing, g, loss);
    });
    expect_same(z, "absolute", [&](Backend& b, ConstMatrix in, Matrix g, Column loss) {
      b.mean_absolute_error(in, t.read(), nullptr, g, loss);
    });
    expect_same(z, "binary from logits", [&](Backend& b, ConstMatrix in, Matrix g, Column loss) {
      b.binary_cross_entropy_from_logits(in, t.read(), nullptr, smoothing, g, loss);
    });
    expect_same(z, "binary", [&](Backend& b, ConstMatrix in, Matrix g, Column loss) {
      b.binary_cross_entropy(in, t.read(), nullptr, smoothing, g, loss);
    });
  }
}

MIRRORSCALE_EVERY_TARGET(LossBits);

}  // namespace
}  // namespace mirrorscale::kernels::testing

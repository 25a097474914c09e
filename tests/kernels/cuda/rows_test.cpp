#include "tests/kernels/cuda/support.h"

namespace mirrorscale::kernels::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kColumnCounts[] = {1, 2, 10, 15, 16, 17, 33, 100, 128, 129, 200};

class CudaRows : public CudaTest {
 protected:
  using Loss = std::function<void(Backend&, ConstMatrix z, ConstMatrix t, const int* labels,
                                  const float* weights, Matrix gradient, Column loss)>;
  /// Gradient and loss of `run`, apart, in place, and with one of them left out.
  void expect_same(const RowGrid& z, const RowGrid& t, const std::vector<int>& labels,
                   const std::vector<float>* weights, const std::string& what, const Loss& run) {
    const auto rows = static_cast<std::size_t>(z.rows());
    RowGrid want(z.rows(), z.columns());
    std::vector<float> want_loss(rows * 16, 0.0F);
    run(*reference_, z.read(), t.read(), labels.data(), weights != nullptr ? weights->data() : nullptr,
        want.view(), {want_loss.data(), kPanel});

    const auto device_z = on_device(z), device_t = on_device(t),
               got = on_device(RowGrid(z.rows(), z.columns())), in_place = on_device(z);
    const auto loss = on_device(std::vector<float>(rows * 16)),
               alone = on_device(std::vector<float>(rows * 16));
    const auto device_labels = on_device(as_floats(labels));
    const auto device_weights = on_device(weights != nullptr ? *weights : std::vector<float>(1));
    const float* w = weights != nullptr ? device_weights.get() : nullptr;
    const int* l = reinterpret_cast<const int*>(device_labels.get());
    run(*exact_, device_z.read(), device_t.read(), l, w, got.view(), {loss.get(), kPanel});
    ASSERT_TRUE(same_bits(got.fetched().read(), want.read())) << what;
    ASSERT_TRUE(same_bits(loss.fetched(), want_loss)) << what;
    run(*exact_, device_z.read(), device_t.read(), l, w, {}, {alone.get(), kPanel});
    ASSERT_TRUE(same_bits(alone.fetched(), want_loss)) << what << ", loss alone";
    run(*exact_, in_place.read(), device_t.read(), l, w, in_place.view(), {});
    ASSERT_TRUE(same_bits(in_place.fetched().read(), want.read())) << what << ", in place";
  }
  void expect_every_loss(const RowGrid& z, const RowGrid& p, const RowGrid& t, const std::vector<int>& labels,
                         const std::vector<float>* weights, const std::string& size) {
    for (const float smoothing : {0.0F, 0.1F}) {
      expect_every_cross_entropy(z, p, t, labels, weights, smoothing,
                                 size + (smoothing > 0 ? ", smoothed" : ""));
    }
    const std::pair<const char*, void (Backend::*)(ConstMatrix, ConstMatrix, const float*, Matrix, Column)>
        means[] = {{"squared ", &Backend::mean_squared_error}, {"absolute ", &Backend::mean_absolute_error}};
    for (const auto& [name, op] : means) {
      expect_same(z, t, labels, weights, name + size,
                  [op = op](Backend& b, ConstMatrix y, ConstMatrix target, const int*, const float* w,
                            Matrix g, Column loss) { (b.*op)(y, target, w, g, loss); });
    }
  }
  void expect_every_cross_entropy(const RowGrid& z, const RowGrid& p, const RowGrid& t,
                                  const std::vector<int>& labels, const std::vector<float>* weights,
                                  float smoothing, const std::string& size) {
    expect_same(z, t, labels, weights, "softmax cross-entropy " + size,
                [=](Backend& b, ConstMatrix in, ConstMatrix, const int* l, const float* w, Matrix g,
                    Column loss) { b.softmax_cross_entropy(in, l, w, smoothing, g, loss); });
    expect_same(p, t, labels, weights, "sparse cross-entropy " + size,
                [=](Backend& b, ConstMatrix in, ConstMatrix, const int* l, const float* w, Matrix g,
                    Column loss) { b.sparse_cross_entropy(in, l, w, smoothing, g, loss); });
    const std::pair<const char*,
                    void (Backend::*)(ConstMatrix, ConstMatrix, const float*, float, Matrix, Column)>
        means[] = {{"binary from logits ", &Backend::binary_cross_entropy_from_logits},
                   {"binary ", &Backend::binary_cross_entropy}};
    for (const auto& [name, op] : means) {
      const RowGrid& in = op == &Backend::binary_cross_entropy ? p : z;
      expect_same(
          in, t, labels, weights, name + size,
          [op = op, smoothing](Backend& b, ConstMatrix y, ConstMatrix target, const int*, const float* w,
                               Matrix g, Column loss) { (b.*op)(y, target, w, smoothing, g, loss); });
    }
  }
};

TEST_F(CudaRows, EveryLossAndMetricHasTheExactBits) {
  for (const int rows : {1, 3, 16, 33}) {
    for (const int columns : kColumnCounts) {
      for (const bool weighted : {false, true}) {
        std::vector<int> labels;
        std::vector<float> values;
        for (int r = 0; r < rows; ++r) {
          labels.push_back((r * 7 + 3) % columns);
          values.push_back(0.1F * static_cast<float>(r % 5));
        }
        const std::vector<float>* weights = weighted ? &values : nullptr;
        auto z = RowGrid(rows, columns).fill(1, -20, 20);
        const auto p = RowGrid(rows, columns).fill(2, -0.1, 1.1), t = RowGrid(rows, columns).fill(3, 0, 1);
        const std::string size = std::to_string(rows) + " x " + std::to_string(columns);
        expect_every_loss(z, p, t, labels, weights, size);

        const auto device_p = on_device(p), device_t = on_device(t);
        const auto hits = on_device(std::vector<float>(static_cast<std::size_t>(rows) * 16));
        const auto device_labels = on_device(as_floats(labels));
        const auto device_weights = on_device(values);
        const float* w = weighted ? device_weights.get() : nullptr;
        std::vector<float> want(static_cast<std::size_t>(rows) * 16);
        exact_->binary_hits(device_p.read(), device_t.read(), 0.4F, w, {hits.get(), kPanel});
        reference_->binary_hits(p.read(), t.read(), 0.4F, weighted ? values.data() : nullptr,
                                {want.data(), kPanel});
        ASSERT_TRUE(same_bits(hits.fetched(), want)) << "binary hits " << size;
        for (int r = 0; r < rows; r += 2) z.at(r, (labels[static_cast<std::size_t>(r)] + 1) % columns) = 25;
        for (int r = 0; r < rows; r += 3) z.at(r, labels[static_cast<std::size_t>(r)]) = 25;
        const auto device_z = on_device(z);
        exact_->sparse_hits(device_z.read(), reinterpret_cast<const int*>(device_labels.get()), w,
                            {hits.get(), kPanel});
        reference_->sparse_hits(z.read(), labels.data(), weighted ? values.data() : nullptr,
                                {want.data(), kPanel});
        ASSERT_TRUE(same_bits(hits.fetched(), want)) << "sparse hits " << size;
      }
    }
  }
}

TEST_F(CudaRows, ExtremeValuesHaveTheExactBits) {
  const float extremes[] = {kNan,  kInfinity, -kInfinity, 3e38F, -3e38F,     1e-45F,
                            -0.0F, 0,         1,          1e-7F, 0.9999999F, 88.8F};
  for (const int columns : {12, 20, 140}) {
    auto z = RowGrid(24, columns).fill(1);
    const auto t = RowGrid(24, columns).fill(3, 0, 1);
    std::vector<int> labels;
    for (int r = 0; r < 24; ++r) {
      labels.push_back(r % columns);
      z.at(r, r % columns) = extremes[r % 12];
      if (r >= 12) z.at(r, (r + 3) % columns) = extremes[r * 5 % 12];
    }
    for (int c = 0; c < columns; ++c) z.at(5, c) = kNan;
    for (int c = 0; c < columns; ++c) z.at(6, c) = -kInfinity;
    expect_every_loss(z, z, t, labels, nullptr, "of extremes, " + std::to_string(columns));
    RowGrid want(24, columns);
    const auto device_z = on_device(z), device_p = on_device(want);
    exact_->softmax(device_z.read(), device_p.view());
    reference_->softmax(z.read(), want.view());
    EXPECT_TRUE(same_bits(device_p.fetched().read(), want.read())) << columns;
    for (const Activation f : kActivations) {
      exact_->activate(f, device_z.read(), device_p.view());
      reference_->activate(f, z.read(), want.view());
      EXPECT_TRUE(same_bits(device_p.fetched().read(), want.read())) << columns << " " << to_string(f);
    }
  }
}

TEST_F(CudaRows, HitsTakeTheFirstLargestColumn) {
  const float scores[6][3] = {{1, 3, 3},    {1, 3, 3},          {2, 1, 0},
                              {kNan, 1, 0}, {kNan, kNan, kNan}, {-0.0F, 0, -1}};
  const auto s = on_device(RowGrid(6, 3).fill_with([&](int r, int c) { return scores[r][c]; }));
  const auto labels = on_device(as_floats({1, 2, 0, 1, 0, 0}));
  const auto weights = on_device({1, 1, 0.5F, 1, 1, 1});
  const auto hits = on_device(std::vector<float>(6 * 16));
  exact_->sparse_hits(s.read(), reinterpret_cast<const int*>(labels.get()), weights.get(),
                      {hits.get(), kPanel});
  const float expected[] = {1, 0, 0.5F, 1, 0, 1};
  const auto got = hits.fetched();
  for (std::size_t r = 0; r < 6; ++r) EXPECT_EQ(got[r * 16], expected[r]) << r;
}

TEST_F(CudaRows, SoftmaxAndItsGradientHaveTheExactBits) {
  for (const int rows : {1, 5, 17, 40}) {
    for (const int columns : kColumnCounts) {
      const auto z = RowGrid(rows, columns).fill(1, -30, 30), dy = RowGrid(rows, columns).fill(2);
      RowGrid p(rows, columns), dz(rows, columns);
      const auto device_p = on_device(z), device_dz = on_device(dy);  // both in place
      exact_->softmax(device_p.read(), device_p.view());
      reference_->softmax(z.read(), p.view());
      ASSERT_TRUE(same_bits(device_p.fetched().read(), p.read())) << rows << " x " << columns;
      exact_->softmax_backward(device_p.read(), device_dz.read(), device_dz.view());
      reference_->softmax_backward(p.read(), dy.read(), dz.view());
      ASSERT_TRUE(same_bits(device_dz.fetched().read(), dz.read()))
          << rows << " x " << columns << " backward";
    }
  }
}

TEST_F(CudaRows, ActivationsAndDerivativesHaveTheExactBits) {
  for (const int rows : {1, 7, 40}) {
    for (const int columns : {1, 16, 33, 100}) {
      const auto z = RowGrid(rows, columns).fill(1, -6, 6), dy = RowGrid(rows, columns).fill(2);
      for (const Activation f : kActivations) {
        RowGrid y(rows, columns), dz(rows, columns);
        const auto device_y = on_device(z), device_dz = on_device(dy);
        exact_->activate(f, device_y.read(), device_y.view());
        reference_->activate(f, z.read(), y.view());
        ASSERT_TRUE(same_bits(device_y.fetched().read(), y.read())) << to_string(f);
        exact_->activate_backward(f, f == Activation::kLinear ? ConstMatrix{} : device_y.read(),
                                  device_dz.read(), device_dz.view());
        reference_->activate_backward(f, y.read(), dy.read(), dz.view());
        ASSERT_TRUE(same_bits(device_dz.fetched().read(), dz.read())) << to_string(f) << " backward";
      }
    }
  }
}

TEST_F(CudaRows, RowWeights) {
  const auto weights = on_device({3, 0.5F, 0}), out = on_device(std::vector<float>(48, 9.0F));
  exact_->row_weights(weights.get(), 3, {out.get() + 2, kPanel});
  exact_->row_weights(nullptr, 2, {out.get() + 5, kPanel});
  const auto got = out.fetched();
  EXPECT_EQ(got[2], 3.0F);
  EXPECT_EQ(got[18], 0.5F);
  EXPECT_EQ(got[34], 0.0F);
  EXPECT_EQ(got[5], 1.0F);
  EXPECT_EQ(got[21], 1.0F);
  EXPECT_EQ(got[37], 9.0F);  // no third row
}

}  // namespace
}  // namespace mirrorscale::kernels::testing

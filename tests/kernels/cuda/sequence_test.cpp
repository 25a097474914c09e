#include "tests/kernels/cuda/support.h"

#include <cmath>
#include <tuple>

namespace mirrorscale::kernels::testing {
namespace {

/// A matrix on the device and what it has to become.
struct Pair {
  RowGrid want;
  DeviceGrid got;
  ::testing::AssertionResult same() { return same_bits(got.fetched().read(), want.read()); }
};

class CudaSequence : public CudaTest {
 protected:
  Pair pair(int rows, int columns) { return {RowGrid(rows, columns), on_device(RowGrid(rows, columns))}; }
};

TEST_F(CudaSequence, LayerNorm) {
  for (const auto& [rows, columns] :
       {std::pair(1, 1), std::pair(9, 17), std::pair(20, 128), std::pair(3, 200)}) {
    const RowGrid x = RowGrid(rows, columns).fill(1, -3, 5), dy = RowGrid(rows, columns).fill(2);
    std::vector<float> gamma(static_cast<std::size_t>(padded(columns)), 0.5F), beta(gamma.size(), -2);
    for (std::size_t c = 0; c < gamma.size(); ++c) gamma[c] += static_cast<float>(c);
    const auto device_x = on_device(x), device_dy = on_device(dy);
    const auto device_gamma = on_device(gamma), device_beta = on_device(beta);
    Pair y = pair(rows, columns), moments = pair(rows, 2), scaled = pair(rows, columns),
         dx = pair(rows, columns), alone = pair(rows, columns);
    reference_->layer_norm(x.read(), gamma.data(), beta.data(), 1e-5F, moments.want.view(), y.want.view());
    exact_->layer_norm(device_x.read(), device_gamma.get(), device_beta.get(), 1e-5F, moments.got.view(),
                       y.got.view());
    EXPECT_TRUE(y.same()) << columns;
    EXPECT_TRUE(moments.same()) << columns;
    reference_->layer_norm_backward(x.read(), moments.want.read(), gamma.data(), dy.read(),
                                    scaled.want.view(), dx.want.view());
    exact_->layer_norm_backward(device_x.read(), moments.got.read(), device_gamma.get(), device_dy.read(),
                                scaled.got.view(), dx.got.view());
    EXPECT_TRUE(scaled.same()) << columns;
    EXPECT_TRUE(dx.same()) << columns;
    exact_->layer_norm_backward(device_x.read(), moments.got.read(), device_gamma.get(), device_dy.read(),
                                alone.got.view(), {});
    EXPECT_TRUE(same_bits(alone.got.fetched().read(), scaled.want.read())) << "without dx";
  }
}

TEST_F(CudaSequence, EmbeddingsAndPositions) {
  for (const auto& [samples, time, tokens, columns, shard] :
       {std::tuple(1, 1, 3, 1, 1), std::tuple(11, 5, 7, 70, 4), std::tuple(33, 3, 20, 16, 1)}) {
    RowGrid ids = RowGrid(samples, time).fill(1, 0, tokens);
    ids.fill_with([&](int r, int c) { return std::floor(ids.at(r, c)); });
    const RowGrid dy = RowGrid(samples * time, columns).fill(2), table = RowGrid(tokens, columns).fill(3),
                  places = RowGrid(time, columns).fill(4);
    const auto device_ids = on_device(ids), device_dy = on_device(dy), device_table = on_device(table),
               device_places = on_device(places);
    Pair y = pair(samples * time, columns), d = pair(tokens, columns), p = pair(time, columns);
    reference_->embed(ids.read(), table.read(), y.want.view());
    exact_->embed(device_ids.read(), device_table.read(), y.got.view());
    EXPECT_TRUE(y.same()) << samples;
    reference_->embed_backward(ids.read(), dy.read(), shard, d.want.view(), nullptr);
    exact_->embed_backward(device_ids.read(), device_dy.read(), shard, d.got.view(), nullptr);
    EXPECT_TRUE(same_bits(d.got.fetched().floats(), d.want.floats())) << samples << ", padding included";
    reference_->add_positions(dy.read(), places.read(), y.want.view());
    exact_->add_positions(device_dy.read(), device_places.read(), y.got.view());
    EXPECT_TRUE(y.same()) << samples;
    reference_->sum_positions(dy.read(), shard, p.want.view());
    exact_->sum_positions(device_dy.read(), shard, p.got.view());
    EXPECT_TRUE(same_bits(p.got.fetched().floats(), p.want.floats())) << samples << ", padding included";
  }
}

TEST_F(CudaSequence, Dropout) {
  for (const int columns : {1, 65, 200}) {
    const RowGrid x = RowGrid(6, columns).fill(1);
    Pair y = pair(6, columns);
    const Dropout d = Dropout::of(0.5F, 3, 1, 2, 3);
    reference_->dropout(d, x.read(), y.want.view());
    exact_->dropout(d, on_device(x).read(), y.got.view());
    EXPECT_TRUE(y.same()) << columns;
  }
}

TEST_F(CudaSequence, Attention) {
  for (const auto& [samples, a, size] :
       {std::tuple(2, Attention{1, 1, true}, 1), std::tuple(2, Attention{5, 3, true}, 4),
        std::tuple(1, Attention{40, 1, true}, 16), std::tuple(1, Attention{35, 2, false}, 8)}) {
    const int rows = samples * a.positions, columns = a.heads * size;
    const RowGrid qkv = RowGrid(rows, 3 * columns).fill(1, -2, 2), dy = RowGrid(rows, columns).fill(2);
    const auto device_qkv = on_device(qkv), device_dy = on_device(dy);
    const auto scratch = on_device(std::vector<float>(attention_scratch(a, rows, columns)));
    Pair y = pair(rows, columns), norms = pair(rows, 2 * a.heads), d = pair(rows, 3 * columns);
    reference_->attention(a, qkv.read(), norms.want.view(), y.want.view(), nullptr);
    exact_->attention(a, device_qkv.read(), norms.got.view(), y.got.view(), scratch.get());
    EXPECT_TRUE(norms.same()) << a.positions;
    EXPECT_TRUE(y.same()) << a.positions;
    reference_->attention_backward(a, qkv.read(), norms.want.read(), y.want.read(), dy.read(), d.want.view(),
                                   nullptr);
    exact_->attention_backward(a, device_qkv.read(), norms.got.read(), y.got.read(), device_dy.read(),
                               d.got.view(), scratch.get());
    EXPECT_TRUE(d.same()) << a.positions;
  }
}

}  // namespace
}  // namespace mirrorscale::kernels::testing

#include "emulated_cuda/test_kernels.h"
#include "emulated_cuda/test_support.h"
#include <cmath>
#include <numeric>

namespace mirrorscale::conformance {
namespace {

TEST(Kernels, AddsScaledElements) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  TestBuffer<float> x(5000), y(5000);
  ASSERT_EQ(fill(x.get(), 3, x.size(), stream), cudaSuccess);
  ASSERT_EQ(fill(y.get(), 1, y.size(), stream), cudaSuccess);
  ASSERT_EQ(add_scaled(x.get(), y.get(), 2, y.size(), stream), cudaSuccess);
  EXPECT_EQ(y.read(stream), std::vector<float>(5000, 7.0f));
}

TEST(Kernels, BlocksReduceInSharedMemory) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  std::vector<float> values(4096);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
  TestBuffer<float> x(values, stream), partial(8);
  ASSERT_EQ(block_sums(x.get(), partial.get(), values.size(), 8, stream), cudaSuccess);
  const auto sums = partial.read(stream);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0.0f),
            std::accumulate(values.begin(), values.end(), 0.0f));
}

TEST(Kernels, WarpsReduceByShuffles) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  constexpr unsigned kRows = 37, kColumns = 45;
  std::vector<float> values(kRows * kColumns), expected(kRows);
  for (unsigned i = 0; i < values.size(); ++i)
    expected[i / kColumns] += values[i] = static_cast<float>(i % 11);
  TestBuffer<float> x(values, stream), sums(kRows);
  ASSERT_EQ(row_sums(x.get(), sums.get(), kRows, kColumns, stream), cudaSuccess);
  EXPECT_EQ(sums.read(stream), expected);
}

TEST(Kernels, CountWithAtomicsInDynamicSharedMemory) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  std::vector<unsigned> values(20000), expected(17);
  for (unsigned i = 0; i < values.size(); ++i) ++expected[(values[i] = i * 2654435761u >> 7) % 17];
  TestBuffer<unsigned> x(values, stream), bins(17);
  ASSERT_EQ(cudaMemsetAsync(bins.get(), 0, 17 * sizeof(unsigned), stream), cudaSuccess);
  ASSERT_EQ(histogram(x.get(), bins.get(), values.size(), 17, stream), cudaSuccess);
  EXPECT_EQ(bins.read(stream), expected);
}

TEST(Kernels, WarpVotesAndShuffles) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  TestBuffer<unsigned> out(16);
  ASSERT_EQ(warp_votes(out.get(), stream), cudaSuccess);
  // Lane 13 reports: up by 1, down by 4, xor 5, and down by 2 within its segment of 8 lanes (13 -> 15).
  const std::vector<unsigned> expected{0x49249249, 0, 1, 70, 12, 17, 8, 15,
                                       0x49249249, 1, 1, 70, 12, 17, 8, 15};
  EXPECT_EQ(out.read(stream), expected);
}

TEST(Kernels, TheLastBlockSeesAllOthers) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  std::vector<float> ones(1000, 1.0f);
  TestBuffer<float> x(ones, stream), partial(8), total(1);
  TestBuffer<unsigned> ticket(1);
  ASSERT_EQ(cudaMemsetAsync(ticket.get(), 0, sizeof(unsigned), stream), cudaSuccess);
  for (int turn = 0; turn < 3; ++turn) {
    ASSERT_EQ(total_by_last_block(x.get(), partial.get(), ticket.get(), total.get(), ones.size(), stream),
              cudaSuccess);
    EXPECT_EQ(total.read(stream)[0], 1000.0f);
  }
}

TEST(Kernels, KnowTheirPlaceInThreeDimensions) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  TestBuffer<unsigned> out(4 * 6 * 8);
  ASSERT_EQ(indices(out.get(), stream), cudaSuccess);
  const auto values = out.read(stream);
  for (unsigned z = 0; z < 8; ++z)
    for (unsigned y = 0; y < 6; ++y)
      for (unsigned x = 0; x < 4; ++x) EXPECT_EQ(values[(z * 6 + y) * 4 + x], x + 100 * y + 10000 * z);
}

TEST(Kernels, IntrinsicsRoundOnce) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  TestBuffer<float> out(6);
  const float a = 1.0f + 0x1p-12f, b = 1.0f + 0x1p-12f, c = -1.0f;
  ASSERT_EQ(intrinsics(a, b, c, out.get(), stream), cudaSuccess);
  const auto values = out.read(stream);
  EXPECT_EQ(values[0], 0x1p-11f + 0x1p-24f);  // the fused product keeps the last bit
  EXPECT_EQ(values[1], 0x1p-11f);             // the rounded one has lost it
  EXPECT_EQ(values[2], 1.0f);
  EXPECT_EQ(values[3], std::sqrt(b));
  EXPECT_EQ(values[4], -a);
  EXPECT_EQ(values[5], 8.0f + 31.0f + 3.0f);
}

TEST(Kernels, StructuresTravelByValue) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  TestBuffer<float> y(300);
  ASSERT_EQ(fill_view({y.get(), y.size()}, 4, stream), cudaSuccess);
  EXPECT_EQ(y.read(stream), std::vector<float>(300, 4.0f));
}

TEST(Kernels, ShapesBeyondTheLimitsAreRefused) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  TestBuffer<unsigned> bins(20000);
  // 80 000 bytes of dynamic shared memory without asking for more than 48 KiB first.
  EXPECT_EQ(histogram(bins.get(), bins.get(), 0, 20000, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(row_sums(nullptr, nullptr, 0, 1, stream), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
}  // namespace mirrorscale::conformance

#include "emulated_cuda/test_kernels.h"
#include "emulated_cuda/test_support.h"
#include <numeric>

namespace mirrorscale::conformance {
namespace {

TEST(Memory, TooMuchIsRefusedAndForgotten) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  TestBuffer<float> small(4);  // nothing sticks
  EXPECT_NE(small.get(), nullptr);
}

TEST(Memory, NothingIsNothing) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  void* p = &p;
  EXPECT_EQ(cudaMalloc(&p, 0), cudaSuccess);
  EXPECT_EQ(p, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
}

TEST(Memory, IsAlignedAndKnown) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestBuffer<char> bytes(3);
  EXPECT_EQ(reinterpret_cast<std::size_t>(bytes.get()) % 256, 0u);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, bytes.get()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  int local = 0;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &local), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 64), cudaSuccess);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST(Memory, CopiesKeepTheBytes) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  std::vector<int> values(1000), back(1000);
  std::iota(values.begin(), values.end(), 1);
  TestBuffer<int> a(1000), b(1000);
  ASSERT_EQ(cudaMemcpy(a.get(), values.data(), 4000, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(b.get(), a.get(), 4000, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  stream.wait();
  ASSERT_EQ(cudaMemcpy(back.data(), b.get(), 4000, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(back, values);
}

TEST(Memory, PinnedCopiesReadLate) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  int* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&pinned), 4 * sizeof(int)), cudaSuccess);
  TestBuffer<int> x(4);
  // The host function runs first, in the order of the stream; so the copy has to see what it wrote.
  pinned[0] = 1;
  ASSERT_EQ(cudaLaunchHostFunc(
                stream, [](void* p) { *static_cast<int*>(p) = 2; }, pinned),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(x.get(), pinned, 4 * sizeof(int), cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT_EQ(x.read(stream)[0], 2);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST(Memory, RowsAreCopiedWithTheirPitch) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  std::vector<char> rows(5 * 16, 'x'), back(5 * 8, '-');
  for (int row = 0; row < 5; ++row) rows[static_cast<std::size_t>(row) * 16] = static_cast<char>('a' + row);
  TestBuffer<char> device(5 * 10);
  ASSERT_EQ(cudaMemcpy2DAsync(device.get(), 10, rows.data(), 16, 3, 5, cudaMemcpyHostToDevice, stream),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DAsync(back.data(), 8, device.get(), 10, 3, 5, cudaMemcpyDeviceToHost, stream),
            cudaSuccess);
  stream.wait();
  for (int row = 0; row < 5; ++row)
    EXPECT_EQ(std::string(back.data() + row * 8, 4), std::string{static_cast<char>('a' + row)} + "xx-");
}

TEST(Memory, RegisteredMemoryIsPinned) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  std::vector<int> values(4096, 7);
  ASSERT_EQ(cudaHostRegister(values.data(), values.size() * sizeof(int), cudaHostRegisterDefault),
            cudaSuccess);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, values.data()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(cudaHostUnregister(values.data()), cudaSuccess);
}

TEST(Memory, StreamOrderedAllocation) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  for (int turn = 0; turn < 10; ++turn) {
    void* p = nullptr;
    ASSERT_EQ(cudaMallocAsync(&p, 4096, stream), cudaSuccess);
    ASSERT_EQ(fill(static_cast<float*>(p), 3, 1024, stream), cudaSuccess);
    float back = 0;
    ASSERT_EQ(cudaMemcpyAsync(&back, p, sizeof back, cudaMemcpyDeviceToHost, stream), cudaSuccess);
    ASSERT_EQ(cudaFreeAsync(p, stream), cudaSuccess);
    stream.wait();
    EXPECT_EQ(back, 3.0f);
  }
}

TEST(Memory, FreeAndTotalAddUp) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  std::size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  EXPECT_LE(before, total);
  {
    TestBuffer<char> large(64u << 20);
    ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
    EXPECT_LE(after + (64u << 20), before);
  }
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace mirrorscale::conformance

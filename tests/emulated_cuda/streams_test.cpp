#include "emulated_cuda/test_kernels.h"
#include "emulated_cuda/test_support.h"
#include <array>
#include <thread>

namespace mirrorscale::conformance {
namespace {

constexpr std::size_t kCount = 4096;

TEST(Streams, AnEventOrdersTwoStreams) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream producer, consumer;
  TestEvent ready;
  TestBuffer<float> x(kCount), y(kCount);
  std::vector<float> expected(kCount);
  for (int turn = 0; turn < 20; ++turn) {
    ASSERT_EQ(fill(x.get(), static_cast<float>(turn), kCount, producer), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(ready, producer), cudaSuccess);
    ASSERT_EQ(fill(y.get(), 1, kCount, consumer), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(consumer, ready, 0), cudaSuccess);
    ASSERT_EQ(add_scaled(x.get(), y.get(), 2, kCount, consumer), cudaSuccess);
    EXPECT_EQ(y.read(consumer), std::vector<float>(kCount, static_cast<float>(1 + 2 * turn)));
  }
}

TEST(Streams, AWaitMeansTheRecordingOfItsTime) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream first, second;
  TestEvent never;
  TestBuffer<float> x(kCount);
  ASSERT_EQ(cudaStreamWaitEvent(second, never, 0), cudaSuccess);  // never recorded: no wait
  ASSERT_EQ(fill(x.get(), 2, kCount, second), cudaSuccess);
  EXPECT_EQ(x.read(second)[0], 2.0f);
  EXPECT_EQ(cudaEventQuery(never), cudaSuccess);
}

TEST(Streams, EventsMeasureTime) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  TestEvent begin(cudaEventDefault), end(cudaEventDefault), untimed;
  TestBuffer<float> x(kCount), y(kCount);
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, end), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  ASSERT_EQ(fill(x.get(), 1, kCount, stream), cudaSuccess);
  ASSERT_EQ(fill(y.get(), 1, kCount, stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(begin, stream), cudaSuccess);
  ASSERT_EQ(add_scaled_slowly(x.get(), y.get(), 1, kCount, stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(end, stream), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  ASSERT_EQ(cudaEventElapsedTime(&ms, begin, end), cudaSuccess);
  EXPECT_GT(ms, 0.0f);
  ASSERT_EQ(cudaEventRecord(untimed, stream), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, untimed), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST(Streams, QueryTellsWhetherWorkIsLeft) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  std::array<int, 1> hold{0};
  // The host function keeps the stream busy until the host lets it go.
  ASSERT_EQ(cudaLaunchHostFunc(
                stream,
                [](void* p) {
                  while (__atomic_load_n(static_cast<int*>(p), __ATOMIC_ACQUIRE) == 0)
                    std::this_thread::yield();
                },
                hold.data()),
            cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  cudaGetLastError();
  __atomic_store_n(hold.data(), 1, __ATOMIC_RELEASE);
  stream.wait();
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
}

TEST(Streams, HostFunctionsRunInOrder) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  std::vector<int> order;
  order.reserve(10);
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(cudaLaunchHostFunc(
                  stream,
                  [](void* p) {
                    auto* all = static_cast<std::vector<int>*>(p);
                    all->push_back(static_cast<int>(all->size()));
                  },
                  &order),
              cudaSuccess);
  stream.wait();
  EXPECT_EQ(order.size(), 10u);
}

TEST(Streams, BelongToTheirDevice) {
  MIRRORSCALE_NEEDS_DEVICES(2);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  TestStream stream;
  TestBuffer<float> x(16);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(fill(x.get(), 1, 16, stream), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  {
    TestEvent elsewhere;
    EXPECT_EQ(cudaEventRecord(elsewhere, stream), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
  }
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(fill(x.get(), 1, 16, stream), cudaSuccess);
  stream.wait();
}

TEST(Streams, AnEventOrdersTwoDevices) {
  MIRRORSCALE_NEEDS_DEVICES(2);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  TestStream there;
  TestBuffer<float> copy(kCount);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  TestStream here;
  TestEvent ready;
  TestBuffer<float> x(kCount);
  ASSERT_EQ(fill(x.get(), 6, kCount, here), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(ready, here), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(there, ready, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpyPeerAsync(copy.get(), 1, x.get(), 0, kCount * sizeof(float), there), cudaSuccess);
  EXPECT_EQ(copy.read(there), std::vector<float>(kCount, 6.0f));
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(Streams, DestroyLetsTheWorkEnd) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestBuffer<float> x(kCount);
  cudaStream_t gone = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(fill(x.get(), 5, kCount, gone), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(gone), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  TestStream stream;
  EXPECT_EQ(x.read(stream), std::vector<float>(kCount, 5.0f));
}

TEST(Streams, PrioritiesHaveARange) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  int least = 9, greatest = 9;
  ASSERT_EQ(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  EXPECT_LE(greatest, least);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), cudaSuccess);
  int priority = 9;
  EXPECT_EQ(cudaStreamGetPriority(stream, &priority), cudaSuccess);
  EXPECT_EQ(priority, greatest);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace
}  // namespace mirrorscale::conformance

// What only the control API can bring about, and what only it can see.
#include "emulated_cuda/faults.h"
#include "emulated_cuda/launch.h"
#include "emulated_cuda/test_kernels.h"
#include "emulated_cuda/test_support.h"
#include <cmath>
#include <cublas_v2.h>
#include <stdexcept>
#include <string>
#include <thread>

namespace mirrorscale::conformance {
namespace {

namespace emulated = emulated_cuda;

class Control : public testing::Test {
 protected:
  void SetUp() override {
    emulated::reset();
    emulated::set_device_count(4);
  }
  void TearDown() override { emulated::reset(); }
};

TEST_F(Control, WithoutADriverTheCountIsLeftAlone) {
  emulated::set_driver_present(false);
  int count = -7;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
  EXPECT_EQ(count, -7);
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, 16), cudaErrorInsufficientDriver);
  int version = 9;
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, 0);
  EXPECT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, CUDART_VERSION);
  cublasHandle_t handle = nullptr;
  EXPECT_EQ(cublasCreate(&handle), CUBLAS_STATUS_NOT_INITIALIZED);
}

TEST_F(Control, NoDeviceIsAnotherError) {
  emulated::set_device_count(0);
  int count = -7;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_EQ(count, 0);
}

TEST_F(Control, TheNthAllocationFails) {
  emulated::inject("malloc:2@1");
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  void *first = nullptr, *second = nullptr;
  EXPECT_EQ(cudaMalloc(&first, 16), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 16), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&second, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
  EXPECT_EQ(emulated::counters(1).allocations, 3u);
}

TEST_F(Control, MemoryHasALimit) {
  emulated::set_memory_bytes(0, 1000);
  void *p = nullptr, *q = nullptr;
  EXPECT_EQ(cudaMalloc(&p, 600), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&q, 600), cudaErrorMemoryAllocation);
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, 400u);
  EXPECT_EQ(total, 1000u);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
}

TEST_F(Control, TheNthKernelFaultsForGood) {
  TestStream stream;
  TestBuffer<float> x(16);
  emulated::inject(emulated::Fault::kKernelFaults, 0, 2);
  EXPECT_EQ(fill(x.get(), 1, 16, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(fill(x.get(), 2, 16, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, 16), cudaErrorIllegalAddress);
  EXPECT_EQ(fill(x.get(), 2, 16, stream), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);  // the others go on
  EXPECT_EQ(cudaMalloc(&p, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorIllegalAddress);
  emulated::reset();
}

TEST_F(Control, ADeviceIsLostOrItsMemoryFails) {
  for (const auto& [text, code] : {std::pair{"lost:3@2", cudaErrorDevicesUnavailable},
                                   std::pair{"ecc:3@2", cudaErrorECCUncorrectable}}) {
    ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
    TestStream stream;
    TestBuffer<float> x(16);
    emulated::inject(text);
    EXPECT_EQ(fill(x.get(), 1, 16, stream), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(x.get(), 0, 64, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    float host = 0;
    EXPECT_EQ(cudaMemcpyAsync(&host, x.get(), 4, cudaMemcpyDeviceToHost, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), code);
    emulated::reset();
  }
}

TEST_F(Control, ACopyFlipsOneBit) {
  TestStream stream;
  std::vector<unsigned> zeros(8), back(8);
  TestBuffer<unsigned> x(8);
  emulated::inject("copy:1@0");
  EXPECT_EQ(cudaMemcpyAsync(x.get(), zeros.data(), 32, cudaMemcpyHostToDevice, stream), cudaSuccess);
  const auto values = x.read(stream);
  int bits = 0;
  for (const unsigned value : values) bits += __builtin_popcount(value);
  EXPECT_EQ(bits, 1);
}

TEST_F(Control, SpecsThatCannotBeReadAreRefused) {
  for (const char* text : {"malloc", "malloc:1", "malloc:0@1", "melloc:1@1", "malloc:1@64", "malloc:x@1"})
    EXPECT_THROW(emulated::inject(text), std::invalid_argument) << text;
}

TEST_F(Control, NeverWrittenMemoryIsNotANumber) {
  TestStream stream;
  TestBuffer<float> x(100);
  for (const float value : x.read(stream)) EXPECT_TRUE(std::isnan(value));
}

TEST_F(Control, MemoryOfAnotherDeviceNeedsPeerAccess) {
  TestStream stream;
  TestBuffer<float> mine(16);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  {
    TestBuffer<float> theirs(16);
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
    EXPECT_EQ(fill(theirs.get(), 1, 16, stream), cudaSuccess);
    EXPECT_EQ(fill_view({theirs.get(), 16}, 1, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
    EXPECT_EQ(fill_view({theirs.get(), 16}, 1, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
    emulated::reset();
    EXPECT_EQ(fill(theirs.get(), 1, 16, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
    emulated::reset();
  }
}

TEST_F(Control, HostPointersAreNoArguments) {
  TestStream stream;
  std::vector<float> host(16);
  EXPECT_EQ(fill(host.data(), 1, 16, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
  emulated::reset();
}

/// Half of the last word is a number, the other half what lay there before: together they once looked like an
/// address of another device.
TEST_F(Control, PaddingOfAStructureIsNotReadAsAPointer) {
  struct Padded {
    float* data;
    int n;
  };
  using emulated::Argument;
  EXPECT_EQ(emulated::argument_kind<Padded>(), Argument::Kind::kNumbers);
  EXPECT_EQ(emulated::argument_kind<View>(), Argument::Kind::kStructure);
  EXPECT_EQ(emulated::argument_kind<float*>(), Argument::Kind::kPointer);
  EXPECT_EQ(emulated::argument_kind<int>(), Argument::Kind::kNumbers);
}

TEST_F(Control, TheDefaultStreamIsRefused) {
  TestBuffer<float> x(16);
  EXPECT_EQ(fill(x.get(), 1, 16, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMemsetAsync(x.get(), 0, 16, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamLegacy), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST_F(Control, CountsWhatIsDoneAndWhatLives) {
  const auto before = emulated::live();
  {
    TestStream stream;
    TestEvent event;
    TestBuffer<float> x(16), y(16);
    ASSERT_EQ(fill(x.get(), 1, 16, stream), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(y.get(), 0, 64, stream), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(stream, event, 0), cudaSuccess);
    x.read(stream);
    const auto now = emulated::live();
    EXPECT_EQ(now.streams, before.streams + 1);
    EXPECT_EQ(now.events, before.events + 1);
    EXPECT_EQ(now.device_allocations, before.device_allocations + 2);
    EXPECT_EQ(now.device_bytes, before.device_bytes + 128);
  }
  const auto after = emulated::live();
  EXPECT_EQ(after.streams, before.streams);
  EXPECT_EQ(after.events, before.events);
  EXPECT_EQ(after.device_bytes, before.device_bytes);
  const auto counted = emulated::counters(0);
  EXPECT_EQ(counted.kernels, 1u);
  EXPECT_EQ(counted.memsets, 1u);
  EXPECT_EQ(counted.copies, 1u);
  EXPECT_EQ(counted.event_waits, 1u);
}

TEST_F(Control, ASeedChangesTheOrderAndNotTheResult) {
  TestStream stream;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    emulated::set_seed(seed);
    std::vector<float> values(4096, 1.0f);
    TestBuffer<float> x(values, stream), partial(8);
    ASSERT_EQ(block_sums(x.get(), partial.get(), values.size(), 8, stream), cudaSuccess);
    EXPECT_EQ(partial.read(stream), std::vector<float>(8, 512.0f));
    TestBuffer<unsigned> out(16);
    ASSERT_EQ(warp_votes(out.get(), stream), cudaSuccess);
    EXPECT_EQ(out.read(stream)[0], 0x49249249u);
  }
}

TEST_F(Control, TheHangReportSaysWhoWaits) {
  TestStream busy, waiting;
  TestEvent event;
  int hold = 0;
  ASSERT_EQ(cudaLaunchHostFunc(
                busy,
                [](void* p) {
                  while (__atomic_load_n(static_cast<int*>(p), __ATOMIC_ACQUIRE) == 0)
                    std::this_thread::yield();
                },
                &hold),
            cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, busy), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(waiting, event, 0), cudaSuccess);
  std::string report;
  const auto says = [&](const char* words) { return report.find(words) != std::string::npos; };
  const auto both = [&] { return says("waits for an event of device 0") && says("a host function"); };
  for (int turn = 0; turn < 5000 && !both(); ++turn) {
    report = emulated::hang_report();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(both()) << report;
  __atomic_store_n(&hold, 1, __ATOMIC_RELEASE);
  waiting.wait();
}

}  // namespace
}  // namespace mirrorscale::conformance

// Faults that only an emulated device has on demand.
#include "kernels/device_error.h"
#include "tests/kernels/cuda/support.h"

#include "emulated_cuda/faults.h"

namespace mirrorscale::kernels::testing {
namespace {

using emulated_cuda::Fault;

class CudaFault : public ::testing::Test {
 protected:
  void SetUp() override { emulated_cuda::reset(); }
  void TearDown() override { emulated_cuda::reset(); }

  /// What an op and a wait say once a fault has come.
  static void expect_failed(Backend& backend, const std::string& name, const std::string& code) {
    try {
      const auto buffer = backend.make_buffer(64);
      backend.add(64, buffer.get(), buffer.get(), buffer.get());
      backend.synchronize();
      FAIL() << "nothing thrown";
    } catch (const DeviceFailed& error) {
      EXPECT_EQ(error.device, name);
      EXPECT_NE(std::string(error.what()).find(code), std::string::npos) << error.what();
    }
    EXPECT_THROW(backend.synchronize(), DeviceFailed);
    EXPECT_THROW(backend.make_buffer(16), DeviceFailed);
  }
};

TEST_F(CudaFault, AFaultingKernelIsADeviceFailureThatNamesTheDevice) {
  emulated_cuda::set_device_count(2);
  const auto backend = make_backend("cuda", {.ordinal = 1, .numerics = Numerics::kExact});
  const auto queue = backend->make_input_queue(1024);  // goes away after the failure, as all else
  const auto kept = backend->make_buffer(64);
  emulated_cuda::inject(Fault::kKernelFaults, 1);
  ::testing::internal::CaptureStderr();
  expect_failed(*backend, "cuda:1", "700");
  ::testing::internal::GetCapturedStderr();
}

TEST_F(CudaFault, ALostDeviceAndMemoryErrorsToo) {
  for (const auto& [fault, code] : {std::pair{Fault::kDeviceLost, "46"}, {Fault::kEccError, "214"}}) {
    emulated_cuda::reset();
    const auto backend = make_backend("cuda", {.ordinal = 0, .numerics = Numerics::kFast});
    emulated_cuda::inject(fault, 0);
    expect_failed(*backend, "cuda:0", code);
  }
}

TEST_F(CudaFault, DestructorsAreSilentAfterAFailure) {
  ::testing::internal::CaptureStderr();
  {
    const auto backend = make_backend("cuda", {.ordinal = 0, .numerics = Numerics::kFast});
    const auto queue = backend->make_input_queue(1024);
    const auto kept = backend->make_buffer(64);
    emulated_cuda::inject(Fault::kEccError, 0);
    EXPECT_THROW(
        {
          backend->clear(kept.get(), 64);
          backend->synchronize();
        },
        DeviceFailed);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr().find("mirrorscale: releasing"), std::string::npos);
}

TEST_F(CudaFault, AnAllocationThatFailsOnceIsOutOfMemoryAndNoMore) {
  const auto backend = make_backend("cuda", {.ordinal = 0, .numerics = Numerics::kExact});
  emulated_cuda::inject(Fault::kMallocFails, 0);
  try {
    backend->make_buffer(1000);
    FAIL() << "accepted";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.asked_bytes, 4000U);
    EXPECT_GT(error.free_bytes, 4000U);
  }
  EXPECT_NE(backend->make_buffer(1000), nullptr);
}

TEST_F(CudaFault, NoDriverAndNoDeviceAreSaidInWords) {
  emulated_cuda::set_driver_present(false);
  DeviceList list = cuda_devices();
  EXPECT_TRUE(list.devices.empty());
  EXPECT_NE(list.why_none.find("no NVIDIA driver"), std::string::npos) << list.why_none;
  EXPECT_NE(list.why_none.find("35"), std::string::npos) << list.why_none;
  EXPECT_THROW(make_backend("cuda"), std::runtime_error);
  emulated_cuda::set_driver_present(true);
  emulated_cuda::set_device_count(0);
  list = cuda_devices();
  EXPECT_TRUE(list.devices.empty());
  EXPECT_NE(list.why_none.find("100"), std::string::npos) << list.why_none;
}

TEST_F(CudaFault, NothingIsLeftBehind) {
  const auto before = emulated_cuda::live();
  {
    const auto backend =
        make_backend("cuda", {.ordinal = 0, .numerics = Numerics::kFast, .precision = Precision::kBfloat16});
    const auto queue = backend->make_input_queue(1024);
    const DeviceGrid x(*backend, RowGrid(9, 20).fill(1)), w(*backend, RowGrid(20, 7).fill(2)),
        y(*backend, RowGrid(9, 7));
    backend->linear(x.read(), w.read(), nullptr, Activation::kTanh, y.view());
    backend->mark(3);
  }
  const auto after = emulated_cuda::live();
  EXPECT_EQ(after.streams, before.streams);
  EXPECT_EQ(after.events, before.events);
  EXPECT_EQ(after.blas_handles, before.blas_handles);
  EXPECT_EQ(after.device_bytes, before.device_bytes);
  EXPECT_EQ(after.pinned_bytes, before.pinned_bytes);
}

}  // namespace
}  // namespace mirrorscale::kernels::testing

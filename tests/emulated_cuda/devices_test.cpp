#include "emulated_cuda/test_support.h"
#include <cstring>
#include <set>
#include <string>

namespace mirrorscale::conformance {
namespace {

TEST(Devices, HaveAnIdentityOfTheirOwn) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  std::set<std::string> buses, ids;
  for (int device = 0; device < device_count(); ++device) {
    cudaDeviceProp properties{};
    ASSERT_EQ(cudaGetDeviceProperties(&properties, device), cudaSuccess);
    EXPECT_GT(std::strlen(properties.name), 0u);
    EXPECT_GT(properties.totalGlobalMem, 0u);
    EXPECT_GT(properties.multiProcessorCount, 0);
    EXPECT_EQ(properties.warpSize, 32);
    char bus[32] = "";
    ASSERT_EQ(cudaDeviceGetPCIBusId(bus, sizeof bus, device), cudaSuccess);
    EXPECT_TRUE(buses.insert(bus).second);
    EXPECT_TRUE(ids.insert(std::string(properties.uuid.bytes, 16)).second);
    int major = 0;
    ASSERT_EQ(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), cudaSuccess);
    EXPECT_EQ(major, properties.major);
  }
}

TEST(Devices, ThoseThatDoNotExistAreRefused) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  EXPECT_EQ(cudaSetDevice(device_count()), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
}

TEST(Devices, VersionsAndWords) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  int driver = 0, runtime = 0;
  EXPECT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
  EXPECT_EQ(cudaRuntimeGetVersion(&runtime), cudaSuccess);
  EXPECT_GE(driver, runtime);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
}

TEST(Devices, PeerAccessIsEnabledOnce) {
  MIRRORSCALE_NEEDS_DEVICES(2);
  int possible = 0;
  ASSERT_EQ(cudaDeviceCanAccessPeer(&possible, 0, 1), cudaSuccess);
  if (!possible) GTEST_SKIP() << "devices 0 and 1 have no peer access";
  int supported = 0;
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&supported, cudaDevP2PAttrAccessSupported, 0, 1), cudaSuccess);
  EXPECT_EQ(supported, 1);
  ASSERT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  cudaGetLastError();
}

}  // namespace
}  // namespace mirrorscale::conformance

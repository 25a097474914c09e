#include "emulated_cuda/capture.h"
#include "emulated_cuda/system.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace mirrorscale::emulated_cuda;

namespace {

constexpr int kMultiprocessors = 16;
constexpr int kFirstBus = 0x10;

bool exists(int device) {
  return static_cast<std::uint32_t>(device) < everything().device_count.load();
}

std::size_t capacity(int device) {
  const Guard guard(everything().lock);
  return device_of(device).capacity_bytes;
}

cudaDeviceProp properties(int device) {
  cudaDeviceProp p{};
  std::snprintf(p.name, sizeof p.name, "Emulated CUDA device");
  std::memcpy(p.uuid.bytes, "EMULATED-CUDA\0\0", 15);
  p.uuid.bytes[15] = static_cast<char>(device);
  p.totalGlobalMem = capacity(device);
  p.sharedMemPerBlock = 48u << 10;
  p.sharedMemPerBlockOptin = 227u << 10;
  p.sharedMemPerMultiprocessor = 228u << 10;
  p.reservedSharedMemPerBlock = 1024;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.totalConstMem = 64u << 10;
  p.major = 9;
  p.minor = 0;
  p.multiProcessorCount = kMultiprocessors;
  p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = 1;
  p.pciBusID = kFirstBus + device;
  p.asyncEngineCount = 3;
  p.memoryBusWidth = 4096;
  p.l2CacheSize = 32 << 20;
  p.maxThreadsPerMultiProcessor = 2048;
  p.maxBlocksPerMultiProcessor = 32;
  p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.hostRegisterSupported = p.memoryPoolsSupported = 1;
  p.textureAlignment = 512;
  return p;
}

/// False for what the stand-in does not know.
bool attribute_of(const cudaDeviceProp& p, cudaDeviceAttr attribute, int* value) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return *value = p.maxThreadsPerBlock, true;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return *value = static_cast<int>(p.sharedMemPerBlock), true;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return *value = static_cast<int>(p.sharedMemPerBlockOptin), true;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return *value = static_cast<int>(p.sharedMemPerMultiprocessor), true;
    case cudaDevAttrWarpSize:
      return *value = p.warpSize, true;
    case cudaDevAttrMultiProcessorCount:
      return *value = p.multiProcessorCount, true;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return *value = p.maxThreadsPerMultiProcessor, true;
    case cudaDevAttrComputeCapabilityMajor:
      return *value = p.major, true;
    case cudaDevAttrComputeCapabilityMinor:
      return *value = p.minor, true;
    case cudaDevAttrPciBusId:
      return *value = p.pciBusID, true;
    case cudaDevAttrPciDeviceId:
      return *value = p.pciDeviceID, true;
    case cudaDevAttrPciDomainId:
      return *value = p.pciDomainID, true;
    case cudaDevAttrL2CacheSize:
      return *value = p.l2CacheSize, true;
    case cudaDevAttrAsyncEngineCount:
      return *value = p.asyncEngineCount, true;
    case cudaDevAttrGlobalMemoryBusWidth:
      return *value = p.memoryBusWidth, true;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
      return *value = 1000000, true;  // kHz
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
      return *value = 1, true;
    case cudaDevAttrEccEnabled:
    case cudaDevAttrIntegrated:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrComputeMode:
    case cudaDevAttrKernelExecTimeout:
      return *value = 0, true;
    default:
      return false;
  }
}

bool can_access(int device, int peer) {
  return device != peer && everything().peers_possible.load();
}

}  // namespace

extern "C" {

/// Leaves the count alone when there is no driver, as the real call does.
cudaError_t cudaGetDeviceCount(int* count) {
  const Unseen unseen;
  if (!everything().driver_present.load()) return report(cudaErrorInsufficientDriver);
  *count = static_cast<int>(everything().device_count.load());
  return report(*count ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device) {
  const Unseen unseen;
  if (const auto state = driver_state()) return report(state);
  if (!exists(device)) return report(cudaErrorInvalidDevice);
  set_current_device(device);
  return report(usable());
}

cudaError_t cudaGetDevice(int* device) {
  const Unseen unseen;
  if (const auto state = driver_state()) return report(state);
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* result, int device) {
  const Unseen unseen;
  if (const auto state = driver_state()) return report(state);
  if (!exists(device)) return report(cudaErrorInvalidDevice);
  *result = properties(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const Unseen unseen;
  if (const auto state = driver_state()) return report(state);
  if (!exists(device)) return report(cudaErrorInvalidDevice);
  return report(attribute_of(properties(device), attribute, value) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (const auto state = driver_state()) return report(state);
  if (!exists(device)) return report(cudaErrorInvalidDevice);
  if (!text || length < 13) return report(cudaErrorInvalidValue);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0",
                static_cast<unsigned>(kFirstBus + device));
  return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  if (const auto state = driver_state()) return report(state);
  unsigned domain = 0, bus = 0;
  if (std::sscanf(text, "%x:%x", &domain, &bus) != 2 || !exists(static_cast<int>(bus) - kFirstBus))
    return report(cudaErrorInvalidValue);
  *device = static_cast<int>(bus) - kFirstBus;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* possible, int device, int peer) {
  if (const auto state = driver_state()) return report(state);
  if (!exists(device) || !exists(peer)) return report(cudaErrorInvalidDevice);
  *possible = can_access(device, peer);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer) {
  if (const auto state = driver_state()) return report(state);
  if (!exists(device) || !exists(peer) || device == peer) return report(cudaErrorInvalidDevice);
  *value = attribute == cudaDevP2PAttrPerformanceRank ? 0 : can_access(device, peer);
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  if (!exists(peer) || peer == current_device()) return report(cudaErrorInvalidDevice);
  if (flags != 0) return report(cudaErrorInvalidValue);
  if (!can_access(current_device(), peer)) return report(cudaErrorPeerAccessUnsupported);
  const Guard guard(everything().lock);
  std::uint64_t& peers = device_of(current_device()).peers;
  if (peers >> peer & 1) return report(cudaErrorPeerAccessAlreadyEnabled);
  peers |= std::uint64_t{1} << peer;
  return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  if (!exists(peer)) return report(cudaErrorInvalidDevice);
  const Guard guard(everything().lock);
  std::uint64_t& peers = device_of(current_device()).peers;
  if (!(peers >> peer & 1)) return report(cudaErrorPeerAccessNotEnabled);
  peers &= ~(std::uint64_t{1} << peer);
  return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned) {
  return report(driver_state());
}
cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) {
  return report(usable());
}
cudaError_t cudaDeviceReset() {
  return report(usable());
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = everything().driver_present.load() ? CUDART_VERSION : 0;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

/// There is no driver behind the stand-in: every symbol is unknown.
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  *function = nullptr;
  if (result) *result = cudaDriverEntryPointSymbolNotFound;
  return result ? cudaSuccess : report(cudaErrorSymbolNotFound);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, result);
}

}  // extern "C"

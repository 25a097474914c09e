#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace mirrorscale::kernels {

/// One CUDA device as the driver names it.
struct DeviceInfo {
  std::string name;          // "cuda:0"
  std::string model;         // "NVIDIA H200"
  std::string uuid;          // "GPU-01234567-89ab-…"
  std::string pci;           // "0000:3b:00.0"
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  bool emulated = false;  // a stand-in for tests: its times mean nothing
};

/// What there is, or why there is nothing: no driver, no device, or a build without CUDA.
struct DeviceList {
  std::vector<DeviceInfo> devices;
  std::string why_none;     // empty where there are devices
  int runtime_version = 0;  // CUDA runtime this build uses, as 13000; 0 without CUDA
  int driver_version = 0;   // newest CUDA that the driver knows; 0 without a driver
  std::string cublas_version;
};
/// Never throws: no driver (codes 34, 35) and no device (100) give an empty list with the reason.
DeviceList cuda_devices();

/// Of each device, the numbers of those whose memory it can reach without the host.
std::vector<std::vector<int>> cuda_peers();

/// Bytes that a device has left for this process, whose context it makes. Throws std::runtime_error where
/// there is no such device.
std::size_t cuda_free_bytes(int ordinal);

/// "cuda:0 (NVIDIA H200), cuda:1 (…)", or why there is none.
std::string in_words(const DeviceList& list);
/// 13000 is "13.0".
std::string cuda_version_text(int version);

}  // namespace mirrorscale::kernels

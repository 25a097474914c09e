#include "kernels/cuda/devices.h"

#include "kernels/cuda/status.h"

#include <array>
#include <cstdio>
#include <stdexcept>

namespace mirrorscale::kernels {
namespace {

std::string in_words(cudaError_t status, int runtime_version) {
  const std::string code =
      std::string(" (") + cudaGetErrorName(status) + ", " + std::to_string(static_cast<int>(status)) + ")";
  switch (status) {
    case cudaErrorInsufficientDriver:  // 35: too old a driver, or none at all
      return "no NVIDIA driver, or one older than CUDA " + cuda_version_text(runtime_version) + code +
             "; install the driver of the GPU (Debian and Ubuntu: package nvidia-driver), in a container "
             "start it "
             "with the NVIDIA container toolkit (docker run --gpus all); 'nvidia-smi' should then list the "
             "GPU";
    case cudaErrorStubLibrary:  // 34
      return "libcuda.so.1 is the toolkit's stub for linking, not a driver" + code +
             "; take the toolkit's 'stubs' folder off LD_LIBRARY_PATH";
    case cudaErrorNoDevice:  // 100
      return "the NVIDIA driver shows no device" + code +
             "; see 'nvidia-smi', the permissions of /dev/nvidia*, and CUDA_VISIBLE_DEVICES";
    default:
      return std::string("the CUDA runtime doesn't start: ") + cudaGetErrorString(status) + code;
  }
}

std::string uuid_of(const cudaDeviceProp& properties) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(properties.uuid.bytes[i])));
    text += hex.data();
  }
  return text;
}

DeviceInfo describe(int ordinal, const cudaDeviceProp& properties) {
  std::array<char, 32> pci{};
  std::snprintf(pci.data(), pci.size(), "%04x:%02x:%02x.0", static_cast<unsigned>(properties.pciDomainID),
                static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
  return {.name = "cuda:" + std::to_string(ordinal),
          .model = properties.name,
          .uuid = uuid_of(properties),
          .pci = pci.data(),
          .major = properties.major,
          .minor = properties.minor,
          .multiprocessors = properties.multiProcessorCount,
          .memory_bytes = properties.totalGlobalMem,
          .emulated = std::string_view(properties.name).starts_with("Emulated")};
}

/// "13.1.0", of the cuBLAS that is loaded; needs no device.
std::string cublas_version() {
  std::string text;
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    if (cublasGetProperty(part, &number) != CUBLAS_STATUS_SUCCESS) return "of unknown version";
    text += (text.empty() ? "" : ".") + std::to_string(number);
  }
  return text;
}

/// Devices without a way between them have none: a driver that doesn't answer included.
std::vector<int> peers_of(int ordinal, int devices) {
  std::vector<int> peers;
  for (int other = 0; other < devices; ++other) {
    int can = 0;
    if (other != ordinal && cudaDeviceCanAccessPeer(&can, ordinal, other) != cudaSuccess) cudaGetLastError();
    if (can != 0) peers.push_back(other);
  }
  return peers;
}

}  // namespace

DeviceList cuda_devices() {
  DeviceList list;
  list.cublas_version = cublas_version();
  cudaRuntimeGetVersion(&list.runtime_version);
  cudaDriverGetVersion(&list.driver_version);
  int count = 0;  // stays as it is where the call fails
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    cudaGetLastError();
    list.why_none = in_words(status, list.runtime_version);
    return list;
  }
  if (count == 0) list.why_none = in_words(cudaErrorNoDevice, list.runtime_version);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp properties{};
    if (const cudaError_t status = cudaGetDeviceProperties(&properties, ordinal); status != cudaSuccess) {
      cudaGetLastError();
      std::snprintf(properties.name, sizeof properties.name, "not available: %s", cudaGetErrorName(status));
    }
    list.devices.push_back(describe(ordinal, properties));
  }
  return list;
}

std::vector<std::vector<int>> cuda_peers() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) cudaGetLastError();
  std::vector<std::vector<int>> peers;
  for (int ordinal = 0; ordinal < count; ++ordinal) peers.push_back(peers_of(ordinal, count));
  return peers;
}

std::size_t cuda_free_bytes(int ordinal) {
  cuda::require_device(ordinal);
  cuda::check(cudaSetDevice(ordinal), "choose a device");
  std::size_t free_bytes = 0, all_bytes = 0;
  cuda::check(cudaMemGetInfo(&free_bytes, &all_bytes), "ask for free memory");
  return free_bytes;
}

namespace cuda {

DeviceInfo require_device(int ordinal) {
  const DeviceList list = cuda_devices();
  if (list.devices.empty()) throw std::runtime_error("[backend] " + in_words(list));
  if (ordinal >= 0 && static_cast<std::size_t>(ordinal) < list.devices.size()) {
    return list.devices[static_cast<std::size_t>(ordinal)];
  }
  throw std::runtime_error("[backend] there is no device cuda:" + std::to_string(ordinal) +
                           "; there is: " + in_words(list));
}

}  // namespace cuda

}  // namespace mirrorscale::kernels

#include "harness/measure/gpu_sensor.h"

#include <array>
#include <dlfcn.h>
#include <stdexcept>
#include <utility>

namespace mirrorscale::harness {
namespace {

// As in nvml.h, which need not be there.
using Device = void*;
using Status = int;
constexpr Status kSuccess = 0;
constexpr unsigned kSmClock = 1, kMemoryClock = 2, kGpuTemperature = 0;

constexpr std::array<std::pair<unsigned long long, const char*>, 5> kThrottle{{
    {0x04, "power cap"},
    {0x08, "hardware slowdown"},
    {0x20, "hot (software)"},
    {0x40, "hot (hardware)"},
    {0x80, "power brake"},
}};

template <class Function>
void find(void* handle, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) missing += (missing.empty() ? "" : ", ") + std::string(name);
}

}  // namespace

struct GpuSensor::Library {
  ~Library() {
    if (begun) shutdown();
    if (handle != nullptr) dlclose(handle);
  }
  std::optional<double> number(Status (*ask)(Device, unsigned*), Device device, double unit) const {
    unsigned value = 0;
    if (ask(device, &value) != kSuccess) return {};
    return value * unit;
  }
  std::optional<double> number(Status (*ask)(Device, unsigned, unsigned*), Device device, unsigned which,
                               double unit) const {
    unsigned value = 0;
    if (ask(device, which, &value) != kSuccess) return {};
    return value * unit;
  }

  void* handle = nullptr;
  bool begun = false;
  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  const char* (*error_string)(Status) = nullptr;
  Status (*handle_by_uuid)(const char*, Device*) = nullptr;
  Status (*clock)(Device, unsigned, unsigned*) = nullptr;
  Status (*temperature)(Device, unsigned, unsigned*) = nullptr;
  Status (*power)(Device, unsigned*) = nullptr;
  Status (*throttle_reasons)(Device, unsigned long long*) = nullptr;
};

GpuSensor::GpuSensor(const std::string& library) : library_(std::make_unique<Library>()) {
  Library& nvml = *library_;
  nvml.handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (nvml.handle == nullptr) {
    const char* error = dlerror();
    why_not_ = "NVML comes with NVIDIA's driver: " + std::string(error == nullptr ? library.c_str() : error);
    return;
  }
  std::string missing;
  find(nvml.handle, "nvmlInit_v2", nvml.init, missing);
  find(nvml.handle, "nvmlShutdown", nvml.shutdown, missing);
  find(nvml.handle, "nvmlErrorString", nvml.error_string, missing);
  find(nvml.handle, "nvmlDeviceGetHandleByUUID", nvml.handle_by_uuid, missing);
  find(nvml.handle, "nvmlDeviceGetClockInfo", nvml.clock, missing);
  find(nvml.handle, "nvmlDeviceGetTemperature", nvml.temperature, missing);
  find(nvml.handle, "nvmlDeviceGetPowerUsage", nvml.power, missing);
  find(nvml.handle, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.throttle_reasons, missing);
  if (!missing.empty()) {
    why_not_ = library + " has no " + missing;
    return;
  }
  const Status status = nvml.init();
  nvml.begun = status == kSuccess;
  if (!nvml.begun) why_not_ = library + ": " + nvml.error_string(status);
}

GpuSensor::~GpuSensor() = default;

GpuState GpuSensor::read(const std::string& uuid) const {
  if (!why_not_.empty()) throw std::logic_error("[gpu_sensor] nothing to read: " + why_not_);
  const Library& nvml = *library_;
  Device device = nullptr;
  const Status status = nvml.handle_by_uuid(uuid.c_str(), &device);
  if (status != kSuccess) {
    throw std::runtime_error("[gpu_sensor] GPU '" + uuid + "': NVML says: " + nvml.error_string(status));
  }
  GpuState state;
  state.sm_hz = nvml.number(nvml.clock, device, kSmClock, 1e6);
  state.memory_hz = nvml.number(nvml.clock, device, kMemoryClock, 1e6);
  state.temperature_c = nvml.number(nvml.temperature, device, kGpuTemperature, 1);
  state.power_w = nvml.number(nvml.power, device, 1e-3);
  unsigned long long reasons = 0;
  if (nvml.throttle_reasons(device, &reasons) == kSuccess) {
    for (const auto& [bit, words] : kThrottle) {
      if ((reasons & bit) != 0) state.throttle_reasons.emplace_back(words);
    }
  }
  return state;
}

}  // namespace mirrorscale::harness

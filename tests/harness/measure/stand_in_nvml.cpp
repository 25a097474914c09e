// The part of NVML that gpu_sensor.cpp calls, with "GPU-stand-in" and the emulated GPUs. They draw 500 W
// under a power cap while their clock falls from look to look, and do not know their memory clock. With
// "no-driver" in the environment variable MIRRORSCALE_STAND_IN_NVML nothing begins.
#include <cstdlib>
#include <cstring>

namespace {

using Device = void*;
enum Status : int { kSuccess = 0, kNotSupported = 3, kNotFound = 6, kNoDriver = 9 };
int the_gpu = 0;
unsigned sm_mhz = 1980;

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* mood = std::getenv("MIRRORSCALE_STAND_IN_NVML");
  return mood != nullptr && std::strcmp(mood, "no-driver") == 0 ? kNoDriver : kSuccess;
}
int nvmlShutdown() {
  return kSuccess;
}
const char* nvmlErrorString(int status) {
  return status == kNoDriver ? "Driver Not Loaded" : "Not Found";
}
int nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  if (std::strcmp(uuid, "GPU-stand-in") != 0 && std::strncmp(uuid, "GPU-454d554c", 12) != 0) return kNotFound;
  *device = &the_gpu;
  return kSuccess;
}
int nvmlDeviceGetClockInfo(Device, unsigned which, unsigned* mhz) {
  constexpr unsigned kSm = 1;
  if (which != kSm) return kNotSupported;
  *mhz = sm_mhz -= 10;
  return kSuccess;
}
int nvmlDeviceGetTemperature(Device, unsigned, unsigned* celsius) {
  *celsius = 61;
  return kSuccess;
}
int nvmlDeviceGetPowerUsage(Device, unsigned* milliwatts) {
  *milliwatts = 500'250;
  return kSuccess;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Device, unsigned long long* reasons) {
  *reasons = 0x1 | 0x4;  // idle, which is no throttling, and the power cap
  return kSuccess;
}
}

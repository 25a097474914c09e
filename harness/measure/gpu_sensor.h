#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mirrorscale::harness {

/// What the driver tells about a GPU at one moment; empty where this model doesn't tell.
struct GpuState {
  std::optional<double> sm_hz, memory_hz, temperature_c, power_w;
  /// Why it runs slower than it could: "power cap", "hot (software)", "hot (hardware)", "power brake",
  /// "hardware slowdown". Being idle and clocks that somebody set are none.
  std::vector<std::string> throttle_reasons;
};

/// NVIDIA's management library (NVML), opened at run time: a program that is built without CUDA has it where
/// the driver is.
class GpuSensor {
 public:
  explicit GpuSensor(const std::string& library = "libnvidia-ml.so.1");
  ~GpuSensor();
  GpuSensor(const GpuSensor&) = delete;
  GpuSensor& operator=(const GpuSensor&) = delete;

  /// Why nothing can be read; empty where it can.
  const std::string& why_not() const { return why_not_; }
  /// Of the GPU with that UUID ("GPU-0123…"). Throws std::runtime_error, with NVML's words, where there is
  /// none, and std::logic_error where why_not says something.
  GpuState read(const std::string& uuid) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::string why_not_;
};

}  // namespace mirrorscale::harness

#pragma once
#include "kernels/device_list.h"
#include "strategies/strategy.h"

#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// What is chosen about the devices of a run beside their number, by the names that people type.
struct DeviceSettings {
  std::string backend = "cpu";        // cpu, cuda, reference
  std::string numerics;               // exact, fast; empty: the backend's own
  std::string precision = "float32";  // of the factors of a product: float32, tf32, bfloat16, float16
  std::string reduction = "auto";     // fused, replicated, bucketed; auto: the one that suits the backend
  std::string cross_device_ops = "default";  // see strategies::cross_device_ops_from
  bool graphs = false;                       // see strategies::StrategyOptions, as the next
  bool registered_buffers = false;
};

/// With every choice made. Throws std::invalid_argument for unknown names and for choices that contradict
/// each other.
DeviceSettings resolved(DeviceSettings settings);

/// Of resolved settings. `parts` has the reducer already.
strategies::StrategyOptions strategy_options(const DeviceSettings& settings,
                                             const strategies::EngineParts& parts, double wait_limit_s);

/// Throws std::runtime_error, with what there is or the reason why there is nothing, unless all these devices
/// are there.
void require_devices(const std::vector<std::string>& names);

/// As a record says it: fp32, tf32, bf16, fp16.
std::string precision_in_record(const std::string& precision);
/// Unit roundoff that the factors of a product are rounded with; 0 for float32.
double factor_roundoff(const std::string& precision);

}  // namespace mirrorscale::scenarios

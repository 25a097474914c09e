#pragma once
#include "scenarios/cells/device_settings.h"
#include "strategies/strategy.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mirrorscale::scenarios {

/// As typed; empty where not given.
struct DeviceOptions {
  std::string backend, numerics, precision, reduction, cross_device_ops;
  bool graphs = false, registered_buffers = false;
  std::optional<double> wait_limit_s;
};
/// Adds --backend, --numerics, --precision, --reduction, --cross-device-ops, --graphs, --registered-buffers
/// and
/// --wait-limit.
void add_device_options(CLI::App& command, DeviceOptions& options);
/// What was typed, on top of `preset`.
DeviceSettings settings_from(const DeviceOptions& options, DeviceSettings preset = {});

/// A thread and a copy of the model each: past this a typing error is likelier than a wish.
inline constexpr int kMostDevices = 1024;

/// A number of devices ("3": <backend>:0 … <backend>:2) or their names ("cpu:0,cpu:2"). Empty `backend`: cpu,
/// or what the names say. Throws std::invalid_argument for anything else, and for names of another backend
/// than asked for.
std::vector<std::string> parse_devices(const std::string& text, const std::string& backend = "");

/// OneDevice for one device, else Mirrored. `settings`: their backend is what the names of the devices say.
/// Throws std::invalid_argument for settings that contradict each other, std::runtime_error for GPUs that
/// aren't there.
strategies::Strategy strategy_on(const std::vector<std::string>& devices, DeviceSettings settings,
                                 double wait_limit_s = 120);
/// Of devices and options as typed.
strategies::Strategy strategy_on(const std::string& devices, const DeviceOptions& options);
/// With a reduction by name, or the one that suits the backend.
strategies::Strategy strategy_on(const std::vector<std::string>& devices,
                                 const std::string& reduction = "auto");

/// A sentence for people when there are more devices than cores that can work at once, else empty.
std::string oversubscription_note(int devices);

}  // namespace mirrorscale::scenarios

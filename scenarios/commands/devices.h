#pragma once
#include "strategies/strategy.h"

#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// A thread and a copy of the model each: past this a typing error is likelier than a wish.
inline constexpr int kMostDevices = 1024;

/// A number of devices ("3": <backend>:0 … <backend>:2) or their names ("cpu:0,cpu:2"). Empty `backend`: cpu,
/// or what the names say. Throws std::invalid_argument for anything else, and for names of another backend
/// than asked for.
std::vector<std::string> parse_devices(const std::string& text, const std::string& backend = "");

/// OneDevice for one device, else Mirrored; `reduction` as in strategies::make_reducer.
strategies::Strategy strategy_on(const std::vector<std::string>& devices,
                                 const std::string& reduction = "fused");

/// A sentence for people when there are more devices than cores that can work at once, else empty.
std::string oversubscription_note(int devices);

}  // namespace mirrorscale::scenarios
